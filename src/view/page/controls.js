// Mouse, touch, keyboard and gamepad: what they do to the camera and to the page.

import * as camera from "./camera.js"
import {$} from "./panels.js"

const DEGREE = Math.PI / 180
const KEY_TURN = 3 * DEGREE
const KEY_PAN = 0.05 // Part of the picture's height.
const KEY_ROLL = 5 * DEGREE
const DRAG_TURN = Math.PI // Angle of a drag over the whole height of the stage.
const WHEEL = 0.0015 // Logarithm of the distance per unit of the wheel.
const KEY_DOLLY = 0.85
const CLICK_PX = 4 // Movement up to which a press is a click.
const LONG_MS = 500
const DOUBLE_MS = 300
const DOUBLE_PX = 24
const FLIGHT = 0.4 // Speed in radii of the content per second.
const FAST = 4
const DEAD = 0.15 // Part of a stick's way that counts as rest.
const STICK_TURN = 90 * DEGREE // Per second.
const MOVES = {
	KeyW: [0, 0, 1],
	KeyS: [0, 0, -1],
	KeyA: [-1, 0, 0],
	KeyD: [1, 0, 0],
	KeyE: [0, 1, 0],
	KeyQ: [0, -1, 0]
}
const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}

export function createControls(app, stage) {
	const held = new Set() // Keys of flight that are down.
	const pointers = new Map()
	let pinch = null
	let press = null // { x, y, moved, pan, timer }
	let tap = null // Last tap: { at, x, y }.
	let stick = [0, 0]

	const height = () => app.place.height

	const turn = (right, rise) => app.moveBy(app.mode === "orbit" ? camera.orbit : camera.look, app.up, right, rise)

	function dolly(factor, x, y) {
		const [w, h] = app.pictureSize()
		app.moveBy(camera.dolly, factor, x ?? w / 2, y ?? h / 2, w, h, app.welcome.radius / 100)
	}

	function changeSpeed(factor) {
		app.speed = camera.clamp(app.speed * factor, 1e-3, 1e3)
		app.refresh()
	}

	const drag = (dx, dy) => {
		const angle = (app.mode === "orbit" ? DRAG_TURN : app.pose.fov * DEGREE) / height()
		// The content follows the pointer: the camera goes the other way.
		turn(-dx * angle, dy * angle)
	}
	const pan = (dx, dy) => app.moveBy(camera.pan, dx, dy, height())

	stage.onpointerdown = event => {
		if (event.target.closest("button, #line, #joystick, #banner, #inset, #card, .note")) return
		if (!app.pose) return
		stage.setPointerCapture(event.pointerId)
		stage.focus({preventScroll: true})
		event.preventDefault()
		pointers.set(event.pointerId, event)
		const {clientX: x, clientY: y, button, shiftKey, pointerType} = event
		clearTimeout(press?.timer)
		pinch = null
		press = pointers.size > 1 ? null : {x, y, moved: false, pan: button !== 0 || shiftKey}
		if (press && pointerType === "touch") press.timer = setTimeout(longPress, LONG_MS)
	}

	function longPress() {
		press.moved = true
		app.attempt(() => app.probeOnClick(...app.pixelAt(press.x, press.y)))
	}

	stage.onpointermove = event => {
		const before = pointers.get(event.pointerId)
		if (!before) return
		pointers.set(event.pointerId, event)
		if (pointers.size === 2) return twoFingers()
		if (!press) return
		let [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY]
		if (!press.moved) {
			;[dx, dy] = [event.clientX - press.x, event.clientY - press.y]
			if (Math.hypot(dx, dy) <= CLICK_PX) return
			press.moved = true
			clearTimeout(press.timer)
		}
		;(press.pan ? pan : drag)(dx, dy)
	}

	function twoFingers() {
		const [a, b] = [...pointers.values()]
		const now = {
			x: (a.clientX + b.clientX) / 2,
			y: (a.clientY + b.clientY) / 2,
			span: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)
		}
		if (pinch) {
			pan(now.x - pinch.x, now.y - pinch.y)
			if (now.span > 0 && now.span !== pinch.span) {
				dolly(pinch.span / now.span, ...app.pixelAt(now.x, now.y))
			}
		}
		pinch = now
	}

	function release(event) {
		if (!pointers.delete(event.pointerId)) return
		pinch = null
		clearTimeout(press?.timer)
		if (press && !press.moved && event.type === "pointerup" && event.button === 0) click(event)
		press = null
	}
	stage.onpointerup = stage.onpointercancel = release

	function click({clientX: x, clientY: y, pointerType, timeStamp: at}) {
		const pixel = app.pixelAt(x, y)
		const twice = tap && at - tap.at < DOUBLE_MS && Math.hypot(x - tap.x, y - tap.y) < DOUBLE_PX
		tap = twice ? null : {at, x, y}
		const view = twice ? null : app.viewAt(...pixel)
		if (view !== null) app.goCam({view})
		else if (twice) app.attempt(() => app.centreAt(...pixel))
		else if (app.ruler || (pointerType !== "touch" && !app.isMesh(app.sourceAt(pixel[0])))) app.attempt(() => app.probeOnClick(...pixel))
	}

	stage.oncontextmenu = event => event.preventDefault()
	stage.onwheel = event => {
		event.preventDefault()
		if (!app.pose) return
		const {deltaMode, deltaY, ctrlKey: pinched, clientX, clientY} = event
		const lines = deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1
		// A pinch on a touch pad arrives as a wheel with Control and small steps.
		const step = camera.clamp(deltaY * lines, -400, 400) * (pinched ? 8 : 1)
		if (app.mode === "fly" && !pinched) changeSpeed(Math.exp(-step * WHEEL))
		else dolly(Math.exp(step * WHEEL), ...app.pixelAt(clientX, clientY))
	}

	const line = $("line")
	line.onpointerdown = event => line.setPointerCapture(event.pointerId)
	line.onpointermove = event => {
		if (!line.hasPointerCapture(event.pointerId)) return
		const {left, width} = $("canvas").getBoundingClientRect()
		app.setSplit((event.clientX - left) / width)
	}

	const joystick = $("joystick")
	const knob = $("knob")
	function moveStick(x, y) {
		stick = [x, y]
		knob.style.transform = `translate(${x * 40}px, ${y * 40}px)`
		app.wake()
	}
	joystick.onpointermove = ({pointerId, clientX, clientY}) => {
		if (!joystick.hasPointerCapture(pointerId)) return
		const {left, top, width} = joystick.getBoundingClientRect()
		const [x, y] = [(2 * (clientX - left)) / width - 1, (2 * (clientY - top)) / width - 1]
		const length = Math.max(1, Math.hypot(x, y))
		moveStick(x / length, y / length)
	}
	joystick.onpointerdown = event => {
		joystick.setPointerCapture(event.pointerId)
		joystick.onpointermove(event)
	}
	joystick.onpointerup = joystick.onpointercancel = () => moveStick(0, 0)

	const commands = {
		"+": () => (app.mode === "fly" ? changeSpeed(1.25) : dolly(KEY_DOLLY)),
		"-": () => (app.mode === "fly" ? changeSpeed(0.8) : dolly(1 / KEY_DOLLY)),
		",": () => app.moveBy(camera.roll, -KEY_ROLL),
		".": () => app.moveBy(camera.roll, KEY_ROLL),
		"[": () => app.setSplit(app.split - 0.02),
		"]": () => app.setSplit(app.split + 0.02),
		"?": () => $("open-help").click(),
		KeyU: () => app.moveBy(camera.level, app.up),
		KeyH: () => app.goHome(),
		KeyC: () => app.centreHere(),
		KeyP: () => $("probe").click(),
		KeyB: () => app.showSide("b"),
		KeyF: () => $("full").click(),
		KeyX: () => app.setCompare(app.compare === "difference" ? "single" : "difference"),
		KeyM: () => $("toggle-map").click(),
		PageUp: () => $("view-previous").click(),
		PageDown: () => $("view-next").click(),
		Escape: () => app.escape()
	}
	commands["="] = commands["+"]
	app.command = key => commands[key]()

	addEventListener("keydown", event => {
		const {code, key, target, ctrlKey, metaKey, altKey, shiftKey} = event
		const typing = target.closest?.("input:not([type=checkbox], [type=range]), textarea, select, dialog, [popover]")
		if (ctrlKey || metaKey || typing || !app.pose) return
		const onPage = target === stage || target === document.body
		const arrow = ARROWS[code]
		const command = commands[key] ?? (altKey ? undefined : commands[code])
		if (MOVES[code] && !altKey) {
			if (app.mode !== "fly") app.setMode("fly")
			held.add(code)
			app.fast = shiftKey
			app.wake()
		} else if (arrow && onPage) {
			const [x, y] = arrow
			if (app.cursor) app.moveCursor(x * (shiftKey ? 10 : 1), -y * (shiftKey ? 10 : 1))
			else if (shiftKey) pan(-x * KEY_PAN * height(), y * KEY_PAN * height())
			else turn(x * KEY_TURN, y * KEY_TURN)
		} else if (target === line && arrow) {
			app.setSplit(app.split + (arrow[0] + arrow[1]) * 0.02)
		} else if (command && (onPage || !code.startsWith("Page"))) {
			if (!event.repeat || !code.startsWith("Key")) command()
		} else return
		event.preventDefault()
	})
	addEventListener("keyup", ({code, shiftKey}) => {
		held.delete(code)
		app.fast = shiftKey
		if (code === "KeyB" && app.side === "b") app.showSide("a")
	})
	// A list that the pointer has chosen from would take the letters of movements.
	let byPointer = false
	addEventListener("pointerdown", () => (byPointer = true), true)
	addEventListener("keydown", () => (byPointer = false), true)
	addEventListener("change", ({target}) => byPointer && target.tagName === "SELECT" && stage.focus())
	// The release of a key is not reported to a window without the focus.
	const clear = () => {
		held.clear()
		app.fast = false
	}
	addEventListener("blur", clear)
	document.addEventListener("visibilitychange", clear)

	const live = value => (Math.abs(value) < DEAD ? 0 : value)
	addEventListener("gamepadconnected", app.wake)

	// Moves by what is held for some seconds; returns whether it is to be called again.
	function tick(seconds) {
		const move = [stick[0], 0, -stick[1]]
		for (const code of held) MOVES[code].forEach((value, i) => (move[i] += value))
		const pad = navigator.getGamepads?.().find(Boolean)
		if (pad) {
			const [x, y, lookX, lookY] = pad.axes.map(live)
			move[0] += x
			move[1] += (pad.buttons[7]?.value ?? 0) - (pad.buttons[6]?.value ?? 0)
			move[2] -= y
			const step = STICK_TURN * seconds
			if (lookX || lookY) app.moveBy(camera.look, app.up, lookX * step, -lookY * step)
		}
		if (move.some(Boolean) && app.pose) {
			const step = FLIGHT * app.welcome.radius * app.speed * seconds * (app.fast ? FAST : 1)
			app.moveBy(camera.fly, app.up, camera.scale(move, step))
		}
		return pad || move.some(Boolean)
	}

	return {tick}
}
