// Bars, panel, dialogs and marks on the picture: what they show and what their controls set.

import * as camera from "./camera.js"
import {createFilters} from "./filters.js"
import * as overlay from "./overlay.js"

// Matplotlib's viridis at eighths of the scale, as the server colours layers and maps.
const VIRIDIS = "440154 472c7a 3b518b 2c718e 21908d 27ad81 5cc863 aadc32 fde725".split(" ")
const TABS = ["view", "compare", "map", "pixel", "path"]
const SOURCE = ["scene", "profile", "layer", "renderer"]
const COMPARISONS = ["single", "split", "blink", "difference"]
const AXES = {
	"+X": [1, 0, 0],
	"-X": [-1, 0, 0],
	"+Y": [0, 1, 0],
	"-Y": [0, -1, 0],
	"+Z": [0, 0, 1],
	"-Z": [0, 0, -1]
}
const NOTE_MS = 6000
const NOTES = 3 // Notes that are shown at once.

export const $ = id => document.getElementById(id)
const text = (id, value) => {
	if ($(id).textContent !== value) $(id).textContent = value
}
const number = (value, digits = 5) => (value == null ? "–" : String(+value.toPrecision(digits)))
const numbers = (values, digits) => values.map(value => number(value, digits)).join(", ")
const title = name => name[0].toUpperCase() + name.slice(1).replaceAll("_", " ")
const percent = done => (done ? `${Math.round(100 * done)} %` : "running")
const joined = (...parts) => parts.filter(Boolean).join(", ")

// Creates an element with a text or children.
function make(tag, content, properties) {
	const element = Object.assign(document.createElement(tag), properties)
	element.append(...[content].flat())
	return element
}

function options(id, pairs) {
	// An open list of the same options stays open.
	const {value, dataset} = $(id)
	const content = JSON.stringify(pairs)
	if (dataset.content === content) return
	dataset.content = content
	$(id).replaceChildren(...pairs.map(pair => make("option", [pair].flat().at(-1), {value: [pair].flat()[0]})))
	if (value) $(id).value = value
}

// Writes a field unless somebody types in it.
function field(id, value) {
	if (document.activeElement !== $(id)) $(id).value = value
}

// Numbers of a field, or null, in which case the field is marked.
function parsed(id, count, fits) {
	const values = ($(id).value.match(/[^\s,;]+/g) ?? []).map(Number)
	const valid = values.length === count && values.every(Number.isFinite) && fits(values)
	$(id).setAttribute("aria-invalid", !valid)
	return valid ? values : null
}

function swatch(rgb) {
	const mark = make("span", "", {className: "swatch"})
	mark.style.background = `rgb(${rgb.map(c => camera.clamp(c, 0, 255)).join(" ")})`
	return mark
}

const list = (id, pairs) => $(id).replaceChildren(...pairs.flatMap(([name, value]) => [make("dt", name), make("dd", value)]))

export function createPanels(app) {
	const narrow = matchMedia("(max-width: 699px)")
	// An action that fails leaves a note.
	const on = (id, action, event = "click") => $(id).addEventListener(event, e => app.attempt(() => action(e)))
	const set = (id, action) => on(id, () => action($(id).value), "change")
	const pressed = (id, state) => $(id).setAttribute("aria-pressed", state)
	const disabled = (ids, state) => ids.forEach(id => ($(id).disabled = state))
	let tab = "view"
	let shownProbe = null
	let shownDetails = null
	let queued = false
	let cameraFile = null // Of the camera in the dialog, with its name.

	const folded = () => document.body.classList.contains("folded")
	function fold(away) {
		document.body.classList.toggle("folded", away)
		$("fold").setAttribute("aria-expanded", !away)
		$("panel").hidden = away && !narrow.matches
		for (const name of TABS) {
			const chosen = name === tab
			$(`tab-${name}`).setAttribute("aria-selected", chosen && !away)
			$(`tab-${name}`).tabIndex = chosen ? 0 : -1
			$(`panel-${name}`).hidden = !chosen || away
		}
	}
	function open(name) {
		tab = name
		fold(false)
	}
	for (const name of TABS) {
		on(`tab-${name}`, () => (narrow.matches && tab === name && !folded() ? fold(true) : open(name)))
	}
	$("tabs").onkeydown = ({key}) => {
		const step = {ArrowRight: 1, ArrowLeft: TABS.length - 1}[key]
		if (!step) return
		open(TABS[(TABS.indexOf(tab) + step) % TABS.length])
		$(`tab-${tab}`).focus()
	}
	on("fold", () => fold(!folded()))
	narrow.onchange = () => fold(narrow.matches)
	fold(narrow.matches)

	const step = by => () => {
		const {length} = app.welcome.views
		const from = app.view ?? app.lens ?? (by > 0 ? -1 : 0)
		app.goCam({view: (from + by + length) % length})
	}
	on("view-previous", step(-1))
	on("view-next", step(1))
	function listViews() {
		const wanted = $("view-search").value.toLowerCase()
		const items = app.welcome.views.flatMap(({name, name_in_file: inFile}, view) => {
			const label = `${view}  ${name}${inFile && inFile !== name ? ` (${inFile})` : ""}`
			if (!label.toLowerCase().includes(wanted)) return []
			const onclick = () => {
				$("views").hidePopover()
				app.goCam({view})
			}
			return [make("li", make("button", label, {onclick}))]
		})
		$("view-items").replaceChildren(...(items.length ? items : ["No view matches."]))
	}
	on("view-search", listViews, "input")
	on("views", ({newState}) => newState === "open" && listViews(), "toggle")
	async function openScene(...request) {
		if ($("scenes").matches(":popover-open")) $("scenes").hidePopover()
		app.note(`Opening ${request[1]}.`, false, "opening")
		await app.scenes(...request)
	}
	on("scenes", async ({newState}) => {
		if (newState !== "open") return
		const items = (await app.scenes()).map(name => make("li", make("button", name, {onclick: () => app.attempt(() => openScene("POST", name))})))
		$("scene-items").replaceChildren(...(items.length ? items : ["No other scene is in the folder."]))
	}, "toggle")
	const openFile = file => file && openScene("PUT", file.name, file)
	on("scene-file", ({target}) => openFile(target.files[0]), "change")
	on("stage", event => app.welcome?.can_open && event.preventDefault(), "dragover")
	on("stage", event => {
		if (!app.welcome?.can_open) return
		event.preventDefault()
		return openFile(event.dataTransfer.files[0])
	}, "drop")
	app.setMode = mode => {
		app.mode = mode
		app.refresh()
	}
	on("mode-orbit", () => app.setMode("orbit"))
	on("mode-fly", () => app.setMode("fly"))
	on("open-compare", () => open("compare"))
	on("toggle-map", () => (app.map ? app.hideMap() : showMap()))
	on("save", () => {
		const mode = app.possible()
		return app.save(app.mapHere() ? "map" : ({difference: mode, blink: app.side}[mode] ?? "a"))
	})
	on("open-help", () => $("help-dialog").showModal())
	on("open-copy", async () => {
		$("copy-link").value = app.link()
		$("copy-render").value = $("copy-sim").value = ""
		text("copy-note", "")
		$("copy-dialog").showModal()
		const map = app.mapHere() ? app.map.request.variant : null
		const answer = await app.request({t: "flags", shot: app.shot(app.shown()), map})
		cameraFile = answer.file
		for (const what of ["render", "sim"]) {
			$(`copy-${what}`).value = answer[what] ?? ""
			disabled([`do-copy-${what}`], !answer[what])
		}
		disabled(["save-cameras"], !cameraFile)
		const name = cameraFile?.name ?? "the camera"
		text("save-cameras", `Save ${name}`)
		const lens = "No camera file that this program writes holds this lens: choose a listed view."
		const needed = `The commands read ${name}, which has to be saved in the folder where they run.`
		const free = cameraFile ? "The commands need no saved camera." : "No camera file holds this lens; the commands need none."
		const memory = "No command reads this scene, which is in the memory of a program."
		const facts = [answer.needs_file ? (cameraFile ? needed : lens) : answer.render ? free : memory]
		if (app.possible() === "difference") facts.push("They are those of picture A; the difference is of two pictures.")
		text("copy-note", facts.join(" "))
	})
	for (const what of ["link", "render", "sim"]) {
		on(`do-copy-${what}`, async ({target}) => {
			const source = $(`copy-${what}`)
			source.select()
			// Beyond localhost, pages without https have no clipboard: the text is left selected.
			if (!navigator.clipboard) return
			await navigator.clipboard.writeText(source.value)
			app.note(`${target.textContent}: done.`)
		})
	}
	on("save-cameras", () => app.download(cameraFile.text, cameraFile.name))

	for (const name of ["eye", "target", "up", "fov"]) {
		set(name, () => {
			const one = name === "fov"
			const change = entry => ({...app.pose, [name]: one ? entry[0] : entry})
			const entry = parsed(name, one ? 1 : 3, values => camera.isValid(change(values), !one && app.lens !== null))
			if (!entry) return
			app.interrupt()
			app.setPose(change(entry), null, one ? null : app.lens)
		})
	}
	on("zoom", () => app.setPose({...app.pose, fov: Number($("zoom").value)}, null, null), "input")
	on("full", () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()))
	document.onfullscreenchange = () => pressed("full", Boolean(document.fullscreenElement))
	on("home", app.goHome)
	on("roll-left", () => app.command(","))
	on("roll-right", () => app.command("."))
	on("level", () => app.command("KeyU"))
	app.centreHere = () => {
		const [w, h] = app.pictureSize()
		const {x, y} = app.cursor ?? {x: w / 2, y: h / 2}
		return app.attempt(() => app.centreAt(x, y))
	}
	on("centre", app.centreHere)
	set("world-up", choice => {
		app.up = AXES[choice] ?? (choice === "view" ? camera.axes(app.pose).up : app.welcome.up)
		if (choice !== "view") app.moveBy(camera.level, app.up)
	})
	for (const side of ["a", "b"]) {
		for (const key of SOURCE) {
			$(`${side}-source`).append(make("label", [title(key), make("select", "", {id: `${side}-${key}`})], {className: "row"}))
			set(`${side}-${key}`, value => {
				// Only the fast renderer draws layers.
				if (key === "layer" && value) app[side].renderer = "cpu"
				if (key === "renderer" && value !== "cpu") app[side].layer = null
				if (key !== "scene") app[side][key] = value || null
				else if (value === "photo") app.b = {photo: true}
				else if (value === "") app.b = null
				else app[side] = {...(app[side]?.photo ? app.a : (app[side] ?? app.a)), scene: Number(value)}
				// Meshes have neither profiles nor layers nor filters.
				if (app[side] && app.isMesh(app[side])) app[side] = {...app[side], profile: null, renderer: "cpu", layer: null, filters: {}}
				if (side === "b" && app.compare === "single") app.compare = "split"
				app.changed()
			})
		}
	}
	const filters = createFilters(app, $, make)
	const setBackground = background => {
		for (const side of ["a", "b"]) if (app[side] && !app[side].photo) app[side] = {...app[side], background}
		app.changed()
	}
	on("background", () => setBackground([1, 3, 5].map(at => parseInt($("background").value.slice(at, at + 2), 16) / 255)), "input")
	on("background-reset", () => setBackground(null))
	set("size", mode => {
		const [width, height] = app.pictureSize()
		app.size = {mode, width, height}
		app.draw()
		app.changed()
	})
	for (const name of ["width", "height"]) {
		set(name, () => {
			const {min_side: least, max_side: most} = app.welcome.limits
			const entry = parsed(name, 1, ([value]) => value % 1 === 0 && value >= least && value <= most)
			if (!entry) return app.note(`A picture has sides of ${least} to ${most} pixels.`, true)
			app.size = {...app.size, [name]: entry[0]}
			app.changed()
		})
	}
	for (const name of ["scale", "quality"]) {
		set(`pace-${name}`, value => {
			app.pace[name] = value === "auto" ? value : Number(value)
			app.send({t: "pace", ...app.pace})
		})
	}

	app.setCompare = mode => {
		if (mode !== "single" && !app.b) {
			open("compare")
			return app.note("Choose the source of picture B first.")
		}
		app.compare = mode
		app.changed()
	}
	for (const mode of COMPARISONS) on(`mode-${mode}`, () => app.setCompare(mode))
	app.setSplit = split => {
		app.split = camera.clamp(split, 0, 1)
		app.draw()
	}
	app.showSide = side => {
		app.side = side
		if (app.compare === "blink") app.draw()
		else app.setCompare("blink")
	}
	// A pointer holds the button, and the Enter key turns it over.
	on("blink", ({detail}) => detail === 0 && app.showSide(app.compare === "blink" && app.side === "b" ? "a" : "b"))
	on("blink", () => app.showSide("b"), "pointerdown")
	on("blink", () => app.showSide("a"), "pointerup")
	on("blink", () => app.showSide("a"), "pointercancel")
	$("gain").oninput = () => {
		app.gain = 2 ** $("gain").value
		app.changed()
	}
	on("measure", async () => {
		app.metrics = await app.request({t: "measure"})
		app.refresh()
	})
	on("save-b", () => app.save("b"))

	const showMap = () => {
		open("map")
		const [map, variant] = [$("map-kind").value, $("map-variant").value]
		app.showMap({map, variant, pinned: $("map-pinned").checked})
	}
	on("map-show", showMap)
	// All maps of a run are kept, so that another kind is there at once.
	for (const id of ["map-kind", "map-variant"]) on(id, () => app.map && showMap(), "change")
	on("map-cancel", app.hideMap)
	on("inset-go", () => app.goCam(app.map.shot.cam))

	on("probe", () => {
		const [w, h] = app.pictureSize()
		app.cursor = app.cursor ? null : {x: w >> 1, y: h >> 1}
		$("stage").focus()
		app.refresh()
		return app.cursor && app.probeAndOpen(w >> 1, h >> 1)
	})
	app.probeAndOpen = async (x, y) => {
		await app.probeAt(x, y)
		open("pixel")
	}
	// A click fills the tab if it is open; the panel of another tab and the size of the picture stay.
	app.probeOnClick = async (x, y) => {
		const probe = await app.probeAt(x, y)
		if (app.ruler && probe.point) app.ruler = [...app.ruler.slice(-1), probe.point]
		if (app.ruler) return app.refresh()
		if (probe.splats && (tab !== "pixel" || folded())) app.card(probe)
	}
	app.card = probe => {
		$("card").hidden = !probe
		if (!probe) return
		const {left, top, width, height} = app.place
		const [x, y] = [left + (probe.x / probe.shot.w) * width, top + (probe.y / probe.shot.h) * height]
		$("card").style.translate = `${x < left + width / 2 ? "12px" : "calc(-100% - 12px)"} ${y < top + height / 2 ? "12px" : "calc(-100% - 12px)"}`
		Object.assign($("card").style, {left: `${x}px`, top: `${y}px`})
		list("card-values", [
			["Pixel", `${probe.x}, ${probe.y}`],
			["Colour", [swatch(probe.rgb8), probe.rgb8.join(", ")]],
			["Depth", number(probe.depth_median)],
			["Fragments", number(probe.count)]
		])
	}
	on("card-open", () => {
		app.card(null)
		open("pixel")
	})
	// While a probe is on its way the cursor moves on; only its last place is asked for.
	let busy = false
	app.moveCursor = async (dx, dy) => {
		const [w, h] = app.pictureSize()
		app.cursor = {x: camera.clamp(app.cursor.x + dx, 0, w - 1), y: camera.clamp(app.cursor.y + dy, 0, h - 1)}
		app.refresh()
		if (busy) return
		busy = true
		for (let asked; app.cursor && asked !== app.cursor;) {
			asked = app.cursor
			await app.attempt(() => app.probeAt(asked.x, asked.y))
		}
		busy = false
	}
	for (const name of Object.keys(app.overlay)) {
		on(`overlay-${name}`, () => {
			app.overlay = {...app.overlay, [name]: $(`overlay-${name}`).checked}
			app.refresh()
			return app.outline()
		}, "change")
	}
	app.viewAt = (x, y) => {
		const [w, h] = app.pictureSize()
		return overlay.viewAt(app, x, y, w, h, app.place.width / w)
	}
	on("ruler", () => {
		app.ruler = app.ruler ? null : []
		app.refresh()
	})
	on("pixel-rings", app.refresh, "change")
	on("pixel-focus", () => app.centre(app.probe.point))

	function showProbe() {
		const {probe} = app
		if (probe === shownProbe) return
		shownProbe = probe
		$("pixel").hidden = false
		$("pixel-focus").hidden = !probe.point
		list("pixel-values", [
			["Pixel", `${probe.x}, ${probe.y}`],
			["Colour", [swatch(probe.rgb8), `${probe.rgb8.join(", ")} (${numbers(probe.rgb, 4)})`]],
			["Alpha", number(probe.alpha)],
			["Mean depth", number(probe.depth)],
			["Median depth", number(probe.depth_median)],
			["Fragments", number(probe.count)],
			...Object.entries(probe.maps ?? {}).map(([name, value]) => [title(name), number(value)])
		])
		const rows = probe.splats.map(({index, weight, alpha, depth, rgb}) => {
			const bytes = rgb.map(c => Math.round(255 * c))
			const colour = [swatch(bytes), bytes.join(" ")]
			const cells = [String(index), number(weight, 2), number(alpha, 2), number(depth, 4), colour].map(cell => make("td", cell))
			return make("tr", cells)
		})
		$("splats").replaceChildren(...rows)
		const {rest_count: rest, rest_weight: weight} = probe
		text("rest", rest ? `${rest} more splats weigh ${number(weight, 3)} together.` : "")
	}

	// Times of the stages of the last exact picture, and the memory of the server.
	function showDetails() {
		if (app.details === shownDetails) return
		shownDetails = app.details
		const {stages_ms: stages, memory_bytes: memory} = app.details
		list("details", [
			...stages.map(([name, ms]) => [title(name), `${number(ms, 3)} ms`]),
			...memory.map(([name, bytes]) => [title(name), bytes === null ? "–" : `${number(bytes / 1e6, 3)} MB`])
		])
	}

	on("key-add", () => {
		app.keys.push({...app.cam(), seconds: 2})
		listKeys()
	})
	on("play", () => (app.playing ? app.stop() : app.play()))
	on("path-save", async () => {
		const [{camera_path: file}, {path, command}] = [await app.fly(), await app.filmCommand()]
		app.download(file, path)
		$("film-command").value = command ?? "" // No command reads a scene in memory.
		app.refresh()
	})
	on("film-save", app.saveFilm)
	on("film-cancel", () => app.cancelFilm())
	set("path-fps", rate => {
		app.frame = Math.round((app.frame * rate) / app.fps)
		app.fps = Number(rate)
		app.refresh()
	})
	on("scene-number", () => app.choose(Number($("scene-number").value)), "input")
	on("path-time", () => app.seek(Number($("path-time").value)), "input")

	function listKeys() {
		const {keys} = app
		app.frame = 0
		const items = keys.map((key, index) => {
			// The first key starts the path; a key that is moved away from there lasts a while again.
			key.seconds = index && (key.seconds || 2)
			const labelled = (element, label) => {
				element.ariaLabel = `${label} ${index + 1}`
				return element
			}
			const button = (label, what, onclick, off) => labelled(make("button", label, {title: what, disabled: off, onclick}), what)
			const move = by => () => {
				keys.splice(index + by, 0, ...keys.splice(index, 1))
				listKeys()
			}
			const input = make("input", "", {value: key.seconds, inputMode: "decimal", disabled: !index})
			input.onchange = () => {
				const value = Number(input.value)
				input.ariaInvalid = !(value > 0 && value <= 600)
				if (value > 0 && value <= 600) key.seconds = value
				app.refresh()
			}
			return make("li", [
				make("span", `${index + 1}  ${app.welcome.views[key.view]?.name ?? numbers(key.eye, 3)}`),
				labelled(input, "Seconds before key"),
				button("Go", "Go to key", () => app.goCam(key)),
				button("↑", "Move up key", move(-1), !index),
				button("↓", "Move down key", move(1), index === keys.length - 1),
				button("×", "Delete key", () => {
					keys.splice(index, 1)
					listKeys()
				})
			])
		})
		$("keys").replaceChildren(...items)
		app.refresh()
	}

	app.escape = () => {
		const popover = document.querySelector(":popover-open")
		if (popover) popover.hidePopover()
		else if (app.playing) app.stop()
		else if (app.map) app.hideMap()
		else app.cursor = null
		app.refresh()
	}

	// A note replaces those of its subject.
	app.note = (message, fault = false, subject = message) => {
		const close = make("button", "×", {ariaLabel: "Close the message", onclick: () => note.remove()})
		const note = make("div", [make("span", message), close], {className: fault ? "note fault" : "note"})
		note.dataset.subject = subject
		for (const old of [...$("notes").children]) {
			if (old.dataset.subject === subject || $("notes").children.length >= NOTES) old.remove()
		}
		$("notes").append(note)
		if (!fault) setTimeout(() => note.remove(), NOTE_MS)
	}

	app.fill = () => {
		const {scenes, views, profiles, layers, variants, maps, version, commit} = app.welcome
		const named = scenes.map(({name}, index) => [String(index), name])
		const photo = views.some(view => view.photo) ? [["photo", "Photo of the view"]] : []
		options("a-scene", named)
		options("b-scene", [["", "Nothing"], ...named, ...photo])
		const emulated = variants.map(name => [`emulated:${name}`, `Emulated GPU, ${name}`])
		for (const side of ["a", "b"]) {
			options(`${side}-profile`, [["", "Of the scene"], ...profiles])
			options(`${side}-layer`, [["", "Colours"], ...layers.map(name => [name, title(name)])])
			options(`${side}-renderer`, [["cpu", "Fast"], ["reference", "Reference (still only)"], ...emulated])
		}
		const kinds = maps.map(({name, title}) => [name, title])
		options("map-kind", kinds)
		options("map-variant", variants.toReversed())
		$("a-scene").parentElement.hidden = scenes.length < 2
		$("open-scene").hidden = !app.welcome.can_open
		const contents = scenes.map(({kind, splats}) => (kind === "mesh" ? "a mesh" : `${splats} splats`))
		text("about", `${contents.join(" and ")}; quadrille ${version} (${commit})`)
	}
	options("world-up", [["scene", "Of the scene"], ...Object.keys(AXES), ["view", "Of this view"]])

	app.refresh = () => {
		if (!queued) requestAnimationFrame(update)
		queued = true
	}
	function update() {
		queued = false
		updateBar()
		if (!app.welcome) return
		const {pose, view, map} = app
		const listed = app.welcome.views[view ?? app.lens]
		text("view-list", listed ? listed.name : "Views")
		pressed("mode-orbit", app.mode === "orbit")
		pressed("mode-fly", app.mode === "fly")
		text("mode-fly", app.speed === 1 ? "Fly" : `Fly × ${number(app.speed, 2)}`)
		$("joystick").hidden = app.mode !== "fly"
		const named = [app.a, app.possible() === "single" ? null : app.b].filter(Boolean)
		const names = [...new Set(named.map(({photo, scene}) => (photo ? "photo" : app.welcome.scenes[scene].name)))].join(" and ")
		text("scene", names)
		if (document.title !== `${names} – quadrille`) document.title = `${names} – quadrille`
		for (const id of ["tab-map", "tab-pixel", "toggle-map"]) $(id).hidden = app.isMesh(app.a)
		for (const name of ["eye", "target", "up"]) field(name, numbers(pose[name]))
		field("fov", number(pose.fov))
		field("zoom", pose.fov)
		for (const side of ["a", "b"]) {
			const source = app[side]
			const drawn = source && !source.photo && app.welcome.scenes[source.scene]
			const own = drawn ? `Of the scene (${drawn.profile})` : "Of the scene"
			const [first] = $(`${side}-profile`).options
			if (first.text !== own) first.text = own
			for (const key of SOURCE.slice(1)) $(`${side}-${key}`).parentElement.hidden = drawn?.kind === "mesh"
			field(`${side}-scene`, source?.photo ? "photo" : (source?.scene ?? ""))
			for (const key of SOURCE.slice(1)) {
				disabled([`${side}-${key}`], !source || source.photo)
				field(`${side}-${key}`, source?.[key] ?? "")
			}
		}
		const colour = app.a.background ?? app.welcome.background
		field("background", `#${colour.map(c => Math.round(255 * c).toString(16).padStart(2, "0")).join("")}`)
		field("size", app.size.mode)
		$("custom-size").hidden = app.size.mode !== "custom"
		field("width", app.size.width)
		field("height", app.size.height)
		filters.update()
		updateCompare()
		updateMap(map ?? {})
		updateMarks()
		showProbe()
		showDetails()
		pressed("probe", app.cursor !== null)
		const {keys, fps, frame, film} = app
		const {sequence} = app.welcome
		$("scene-row").hidden = !sequence
		if (sequence) {
			$("scene-number").max = sequence.length - 1
			field("scene-number", app.number)
			text("scene-now", `${app.number + 1} of ${sequence.length}`)
		}
		disabled(["path-save", "path-time"], keys.length < 2)
		disabled(["play"], keys.length < 2 && !sequence)
		disabled(["film-save"], keys.length < 2 || Boolean(film))
		text("play", app.playing ? "Stop" : "Play")
		const seconds = keys.reduce((sum, key) => sum + key.seconds, 0)
		text("path-text", `${keys.length} ${keys.length === 1 ? "key" : "keys"}, ${number(seconds)} s.`)
		$("path-time").max = Math.floor(seconds * fps + 1e-6)
		field("path-time", frame)
		text("path-now", `${number(frame / fps, 3)} s`)
		$("film-row").hidden = !film
		$("film-text").hidden = !$("film-command").value
		if (film) $("film-progress").value = film.progress
	}

	function updateBar() {
		const {state, still} = app
		const progress = state === "SETTLING" ? still?.progress : null
		const {scale, quality, w, render, encode, bytes, latency} = app.stats
		const exact = app.welcome && app.mapHere() ? "MAP" : state
		text("badge", ["EXACT", "MAP", "FAILED", "LOST", "CONNECTING"].includes(exact) ? exact : "PREVIEW")
		const preview = state === "EXACT" ? reduced() : joined(scale, quality && `JPEG ${quality}`)
		text("badge-note", progress == null ? preview : percent(progress))
		$("still-cancel").hidden = progress == null
		if (!w) return
		text("stat-size", app.shownSize().join(" × "))
		text("stat-fps", app.rate() ? `${app.rate()} frames/s` : "")
		text("stat-times", `render ${number(render / 1000, 3)} ms, encode ${number(encode / 1000, 3)} ms`)
		text("stat-bytes", `${number(bytes / 1000, 3)} KB`)
		text("stat-latency", `drawn after ${Math.round(latency)} ms`)
	}
	on("still-cancel", app.cancelStill)

	// Says that the exact picture is smaller than what was asked for.
	function reduced() {
		const [[width], [w]] = [app.wantedSize(), app.pictureSize()]
		return w < width ? `at ${Math.round((100 * w) / width)} % of its width (--max-pixels, or sides of ${app.welcome.limits.max_side})` : ""
	}

	function updateCompare() {
		const {b, compare} = app
		for (const mode of COMPARISONS) pressed(`mode-${mode}`, compare === mode)
		pressed("blink", compare === "blink" && app.side === "b")
		$("photo-note").hidden = !b?.photo || app.possible() !== "single"
		field("gain", Math.log2(app.gain))
		text("gain-value", `× ${app.gain}`)
		const alone = app.possible() === "single" || app.state !== "EXACT"
		disabled(["measure", "save-b"], alone)
		// Metrics are of colours, not of the colours of layers.
		if ([app.a, b].some(source => source?.layer)) disabled(["measure"], true)
		const {psnr_db: psnr, ssim, flip} = app.metrics ?? {}
		const ratio = psnr === null ? "equal pictures" : `${psnr?.toFixed(2)} dB`
		const rows = Object.entries({PSNR: ratio, SSIM: number(ssim), FLIP: number(flip)})
		list("metrics", app.metrics ? rows : [])
	}

	function updateMap({id, info, picture, progress}) {
		pressed("toggle-map", Boolean(id))
		$("map-progress").hidden = !id || Boolean(picture)
		// Without a value, the bar shows that something runs.
		if (progress) $("map-progress").value = progress
		else $("map-progress").removeAttribute("value")
		disabled(["map-cancel"], !id)
		text("map-cancel", picture ? "Hide map" : "Cancel")
		const idle = "A run takes seconds; the picture stays usable meanwhile."
		text("map-text", info?.cycles ? `${info.cycles} cycles` : id ? `Emulator: ${percent(progress)}` : idle)
		const here = app.mapHere()
		$("inset").hidden = !picture || here
		const inset = $("inset-canvas")
		if (picture && inset.of !== picture) {
			Object.assign(inset, {of: picture, width: picture.width, height: picture.height})
			inset.getContext("2d").drawImage(picture, 0, 0)
			text("inset-title", info.title)
		}
		const legend = here ? {...info, low: 0, high: info.top} : app.legend()
		$("legend").hidden = !legend
		if (!legend) return
		// Colours stand at eighths of the curve; the bar is linear in the values.
		const stops = VIRIDIS.map((colour, i) => `#${colour} ${100 * (i / 8) ** (legend.curve === "root" ? 2 : 1)}%`)
		$("legend-bar").style.background = `linear-gradient(to right, ${stops})`
		text("legend-title", legend.title)
		text("legend-low", number(legend.low, 4))
		text("legend-high", number(legend.high, 4))
		const largest = legend.max > legend.high && `largest ${number(legend.max, 4)}`
		text("legend-note", joined(largest, legend.nothing && `black: ${legend.nothing}`))
	}

	// Split line, names of both sides and the probed point, in their places on the picture.
	function updateMarks() {
		const {left, top, width, height} = app.place
		const put = (id, values) => {
			for (const [name, value] of Object.entries(values)) $(id).style[name] = `${value}px`
		}
		const mode = app.mapHere() ? "single" : app.possible()
		$("line").hidden = mode !== "split"
		put("line", {left: left + app.split * width, top, height})
		$("line").ariaValueNow = Math.round(100 * app.split)
		for (const side of ["a", "b"]) {
			$(`side-${side}`).hidden = mode !== "split" && (mode !== "blink" || app.side !== side)
		}
		const [w, h] = app.pictureSize()
		const {probe} = app
		let at = app.cursor
		if (!at && probe && tab === "pixel") {
			if (app.isHere(probe.shot)) at = probe
			else if (probe.point) {
				const [x, y, depth] = app.project(probe.point, w, h)
				if (depth > 0) at = {x: x - 0.5, y: y - 0.5}
			}
		}
		const [from, to] = app.ruler ?? []
		const asks = from ? "Click another surface." : "Click a surface."
		text("ruler-text", to ? `${number(camera.norm(camera.subtract(from, to)))} units between the two points` : app.ruler ? asks : "")
		pressed("ruler", Boolean(app.ruler))
		const ends = [from, to].filter(Boolean).map(point => app.project(point, w, h))
		// A single point is a cross.
		const cross = ([x, y]) => [[x - 6, y], [x + 6, y], [x, y], [x, y - 6], [x, y + 6], [x, y]]
		const seen = ends.every(([, , depth]) => depth > 0) ? ends : []
		$("ruler-line").setAttribute("points", seen.flatMap(cross).join(" "))
		put("overlay", {left, top, width, height})
		$("overlay").setAttribute("viewBox", `0 0 ${w} ${h}`)
		for (const [kind, path] of Object.entries(overlay.paths(app, w, h))) $(`lines-${kind}`).setAttribute("d", path)
		text("grid-step", app.overlay.grid ? `of ${number(overlay.gridStep(app.welcome.radius))} units` : "")
		const ringed = probe && tab === "pixel" && $("pixel-rings").checked && app.isHere(probe.shot)
		$("lines-splats").setAttribute("d", ringed ? overlay.rings(probe.splats.flatMap(({outline}) => (outline ? [outline] : []))) : "")
		const {path, drawn, all} = (app.overlay.splats && !app.mapHere() && app.outlines) || {}
		if ($("lines-seen").getAttribute("d") !== (path ?? "")) $("lines-seen").setAttribute("d", path ?? "")
		text("seen-note", all === undefined ? "" : `(${drawn} of ${all})`)
		$("marker").hidden = !at
		if (at) put("marker", {left: left + ((at.x + 0.5) / w) * width, top: top + ((at.y + 0.5) / h) * height})
	}
}
