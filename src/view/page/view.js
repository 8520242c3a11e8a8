// The page of `quadrille view`: what is asked of the server, and how its pictures reach the canvas.

import * as camera from "./camera.js"
import {createControls} from "./controls.js"
import {rings} from "./overlay.js"
import {$, createPanels} from "./panels.js"

const PROTOCOL = 1
const SETTLE_MS = 150 // Time without input before a still.
const MOVE_MS = 300 // Duration of a move to a listed view.
const REQUEST_MS = 15 // Least time between frames: at most 60 per second.
const GOT_MS = 12 // Least time between confirmations, far below the server's limit.
const RETRY_S = [0.5, 1, 2, 4, 8]
const SILENCE_MS = 3000 // Time without an answer before the server is asked for its status.
const TOKEN = "quadrille.token"
const LAST = "quadrille.view" // What the page showed before it was loaded again.
const MOST_RADII = 1000 // Distance from the content, in its radii, up to which movements lead away from it.
const HEADER_BYTES = 32
const [FRAME, STILL_A, STILL_B, DIFFERENCE, MAP, FILE] = [1, 2, 3, 4, 5, 6]
const TYPES = [, "image/jpeg", "image/webp", "image/png", "application/octet-stream"]
const SCALES = {8: "", 6: "3/4", 4: "1/2", 3: "3/8", 2: "1/4"} // By eighths.
// First luminance step of a JPEG's quantization table, from which its quality is read.
const QUALITIES = {3: 90, 10: 70, 16: 50}
const INVALID = "This address has no valid token. Open the one that quadrille printed, or a link that Copy gives in an open page."
const PORTRAIT = 0.75 // Share of a camera's proportions below which a window would cut off too much of its sides.
const LARGE_PIXELS = 2.1e6 // Of a window whose previews are smoothed up to half of its sides.
const UPDATED = "The server was updated."

const canvas = $("canvas")
const context = canvas.getContext("2d", {alpha: false})
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)")

const app = {
	place: {left: 0, top: 0, width: 1, height: 1}, // Of the canvas.
	state: "CONNECTING",
	welcome: null,
	pose: null,
	view: null, // Index of the listed view, until the camera moves.
	lens: null, // Index of the listed view whose intrinsics the camera has.
	up: [0, -1, 0],
	mode: "orbit",
	speed: 1, // Factor of the speed of flight.
	a: {scene: 0, profile: null, renderer: "cpu", layer: null, background: null, filters: {}},
	b: null,
	compare: "single", // single, split, blink or difference
	side: "a", // Side that is shown in the mode blink.
	split: 0.5,
	gain: 4,
	size: {mode: "window", width: 980, height: 545},
	pace: {scale: "auto", quality: "auto"},
	still: null, // { seq, show, wanted, pictures, exact, progress }
	map: null, // { id, shot, request, progress, info, picture }
	metrics: null, // Of the two pictures of the still.
	probe: null, // Last answer, with the camera and the point on the surface.
	overlay: {cameras: false, axes: false, grid: false, splats: false}, // Lines over the picture.
	outlines: null, // Of the splats of the exact picture: their path, and how many they are of all.
	number: 0, // Of the chosen scene of a sequence.
	ruler: null, // One or two points whose distance is measured.
	keys: [],
	flight: null, // Cameras of the path through the keys, and the text of its file.
	film: null, // { id, progress } of the film that is drawn.
	playing: null,
	stats: {},
	details: null, // Stages of the last still, and memory of the server.
	fps: 30, // Of paths.
	frame: 0, // Of the path, at which it is played.
	cursor: null // Pixel of the keyboard's probe.
}

let socket = null
let number = 0 // Of frames, stills and requests, so that `progress` is never ambiguous.
let attempts = 0
let retryAt = 0
let lossText = ""
let reopens = false
let farewell // Why the server ends the connection.
let dirty = false
let settleTimer = 0
let lastRequest = 0
let waitingSince = 0 // Time of the first request since the last message, or 0.
let lastGot = 0
let gotTimer = 0
let gotBytes = 0
let looping = false
let lastTick = 0
let tween = null
let box = {width: 16, height: 16} // Stage in device pixels.
let drawnSeq = 0
let current = null // Picture on the canvas: { seq, mode, pictures, w, h }.
let link = null // Camera and sources of the address that was opened, as JSON.
const sent = new Map() // Requests for pictures by number: { at, w, h }.
const parts = new Map() // Pictures that are arriving, by kind and number.
const pending = new Map() // Promises of answers by number.
const legends = new Map()
const drawTimes = []

app.cam = () => {
	if (app.view !== null) return {view: app.view}
	const {eye, target, up, fov} = app.pose
	return {eye, target, up, fov_degrees: fov, lens: app.lens}
}

const poseOf = cam => ({eye: cam.eye, target: cam.target, up: cam.up, fov: cam.fov_degrees})

// Takes a pose; `view` is its index if it is a listed view.
app.setPose = (pose, view = null, lens = app.lens) => {
	app.pose = pose
	app.view = view
	app.lens = lens
	app.changed()
}
app.moveBy = (movement, ...rest) => {
	if (!app.pose) return
	app.interrupt()
	const {home, radius} = app.welcome
	const away = ({eye}) => camera.norm(camera.subtract(eye, home.target))
	const leaves = isNarrow() && app.welcome.views[app.view].is_pinhole
	const next = movement(leaves ? widened(app.pose) : app.pose, ...rest)
	// Farther out there is nothing to see, and the server takes no such coordinates in the end.
	if (away(next) > Math.max(MOST_RADII * radius, away(app.pose))) return
	app.setPose(next, null, leaves ? null : app.lens)
}

// Stops what moves the camera by itself.
app.interrupt = () => {
	tween = null
	if (app.playing) app.stop()
}

app.glide = (pose, view, lens) => {
	app.interrupt()
	if (reducedMotion.matches || !app.pose) return app.setPose(pose, view, lens)
	tween = {from: app.pose, to: pose, view, lens, start: performance.now()}
	wake()
}
// Pose, listed view and lens of a CAM. A listed view states a direction, and no point to turn about.
function standing(cam) {
	if (cam.view === undefined) return [poseOf(cam), null, cam.lens ?? null]
	const {home, radius, views} = app.welcome
	return [camera.withPivot(poseOf(views[cam.view].cam), home.target, radius), cam.view, cam.view]
}
app.goCam = cam => app.glide(...standing(cam))
// The first listed view, or a camera that flags describe without a file.
const home = ({home}) => (home.lens == null ? home : {view: home.lens})
app.goHome = () => app.goCam(home(app.welcome))

// The mode of comparison that is possible now: photos exist at listed views only.
app.possible = () => (!app.b || (app.b.photo && !app.welcome.views[app.view]?.photo) ? "single" : app.compare)

// What a request asks for: frames come from the fast renderer, and a blink's still holds both sides.
app.show = still => {
	const live = source => (still || source.photo ? source : {...source, renderer: "cpu"})
	const {split, gain} = app
	let mode = app.possible()
	const a = live(mode === "blink" && !still && app.side === "b" ? app.b : app.a)
	if (mode === "blink") mode = still ? "split" : "single"
	return {a, b: mode === "single" ? null : live(app.b), mode, split, gain}
}

// Size that is asked for, and its part up to the limit of pixels.
app.wantedSize = () => {
	const {mode} = app.size
	const listed = app.welcome.views[app.view ?? app.lens]
	const {width, height} = mode === "custom" ? app.size : (mode === "camera" && listed) || box
	return [width, isNarrow() ? Math.round((width * listed.height) / listed.width) : height]
}
// Whether the window would cut off too much of a listed view, whose vertical field of view stays: it has its own proportions.
function isNarrow() {
	const listed = app.welcome.views[app.view]
	return app.size.mode === "window" && listed && box.width / box.height < (PORTRAIT * listed.width) / listed.height
}
// The pose with which a movement leaves a narrow view: it fills the window, and keeps its horizontal field of view.
function widened({fov, ...pose}) {
	const {width, focal_px: [focal]} = app.welcome.views[app.view]
	return {...pose, fov: camera.fieldOfView((focal * box.width) / width, box.height)}
}
// Picture coordinates and depth of a world point.
app.project = (point, w, h) => {
	const listed = app.welcome.views[app.view ?? app.lens]
	return camera.project(app.pose, point, w, h, listed?.is_pinhole ? camera.intrinsics(listed, w, h) : null)
}
app.pictureSize = () => {
	const {max_pixels: most, min_side: least, max_side: side} = app.welcome.limits
	const [width, height] = app.wantedSize()
	const factor = Math.min(1, Math.sqrt(most / (width * height)))
	return [width, height].map(v => camera.clamp(Math.floor(v * factor), least, side))
}

// What a side shows. The command, the map, the pixels and the name of the file are asked for by it.
app.shot = (source = app.a) => {
	const [w, h] = app.pictureSize()
	return {cam: app.cam(), w, h, source}
}
// The same shot of the fast renderer without a layer, to which pixels belong, and without a background, to which maps do.
const ofPixels = ({source, ...shot}) => ({...shot, source: {...source, renderer: "cpu", layer: null}})
const ofScene = ({source, ...shot}) => ofPixels({...shot, source: {...source, background: null}})
// The source that is saved and copied: B while a blink shows it, unless it is a photo.
app.shown = () => (app.possible() === "blink" && app.side === "b" && !app.b.photo ? app.b : app.a)
app.isMesh = ({scene}) => app.welcome.scenes[scene]?.kind === "mesh"

function setState(state) {
	if (app.state !== state) {
		app.state = state
		document.documentElement.dataset.state = state
		if (state === "EXACT" || state === "LOST") $("live").textContent = state
	}
	app.refresh()
}

app.connected = () => socket?.readyState === WebSocket.OPEN && app.welcome !== null

// Something that changes the picture: a frame at the next tick, a still once the input rests.
app.changed = () => {
	app.still = app.metrics = app.outlines = null
	if (app.map && !app.map.request.pinned) app.hideMap()
	app.card(null)
	if (app.nothing) app.banner(null)
	if (!app.connected()) return app.refresh()
	dirty = true
	clearTimeout(settleTimer)
	if (!app.playing) settleTimer = setTimeout(settle, SETTLE_MS)
	setState(app.playing ? "PLAYING" : "MOVING")
	wake()
}

function settle() {
	if (!app.connected() || document.hidden) return
	dirty = false
	const show = app.show(true)
	const wanted = {single: [STILL_A], split: [STILL_A, STILL_B], difference: [DIFFERENCE]}[show.mode]
	const seq = ask("still", show)
	for (const key of parts.keys()) if (key < "5") parts.delete(key)
	app.still = {seq, show, wanted, pictures: {}, exact: {}, progress: null}
	setState("SETTLING")
}

// Sends a request for a picture of the current camera; returns its number.
function ask(t, show) {
	const [w, h] = app.pictureSize()
	const seq = ++number
	lastRequest = performance.now()
	waitingSince ||= lastRequest
	sent.set(seq, {at: lastRequest, w, h})
	for (const old of sent.keys()) if (old < drawnSeq) sent.delete(old)
	app.send({t, seq, cam: app.cam(), w, h, show})
	return seq
}

function wake() {
	if (!looping) requestAnimationFrame(tick)
	looping = true
}

function tick(now) {
	const seconds = Math.min((now - (lastTick || now)) / 1000, 0.1)
	looping = false
	lastTick = 0
	if (document.hidden) return
	if (tween) {
		const {from, to, view, lens, start} = tween
		const t = (now - start) / MOVE_MS
		if (t >= 1) tween = null
		const end = t >= 1
		app.setPose(camera.interpolate(from, to, t), end ? view : null, end || lens === app.lens ? lens : null)
	}
	if (app.playing) advance(now)
	const active = controls.tick(seconds)
	if (dirty && app.connected() && now - lastRequest >= REQUEST_MS) {
		dirty = false
		ask("frame", app.show(false))
	}
	if (active) lastTick = now
	if (dirty || active || tween || app.playing) wake()
}
app.wake = wake

// What a film shows: colours of the fast renderer, from the first key on.
const filmed = () => ({...ofPixels(app.shot()), cam: keyCamera(app.keys[0])})
const keyCamera = ({seconds, ...cam}) => cam
const flown = () => ({shot: filmed(), keys: app.keys, fps: app.fps})

// The cameras of the path, asked for after a change of its keys.
app.fly = async () => {
	const asked = JSON.stringify(flown())
	if (app.flight?.asked !== asked) app.flight = {...(await app.request({t: "fly", ...flown()})), asked}
	return app.flight
}

app.play = async () => {
	// Without a path, this camera sees the scenes of the sequence.
	const alone = app.keys.length < 2 && app.welcome.sequence
	const {cameras, fps} = alone ? {cameras: alone.map(() => app.cam()), fps: app.fps} : await app.fly()
	app.interrupt()
	// From the last scene on, it begins again.
	const first = alone ? app.number % Math.max(1, alone.length - 1) : app.frame
	app.playing = {cameras, fps, start: performance.now() - (1000 * first) / fps, index: -1}
	wake()
}

// Shows a frame of the path.
app.seek = async frame => {
	const {cameras} = await app.fly()
	app.interrupt()
	app.frame = camera.clamp(frame, 0, cameras.length - 1)
	follow(app.frame, cameras.length)
	app.setPose(...standing(cameras[app.frame]))
}

// Shows a scene of the sequence, on all pages.
app.choose = number => {
	if (number === app.number) return
	app.number = number
	app.send({t: "scene", number})
}
// Shows the scene of a frame of the path, as its film does.
function follow(frame, frames) {
	const {sequence} = app.welcome
	if (sequence) app.choose(Math.floor((frame * sequence.length) / frames))
}

// The command of the film, and the names of its files.
app.filmCommand = async () => (await app.request({t: "flags", shot: filmed(), map: null})).film

app.saveFilm = async () => {
	const {name} = await app.filmCommand()
	const answer = app.request({t: "film", ...flown()})
	app.film = {id: number, progress: 0}
	app.refresh()
	try {
		const film = await answer
		if (film) app.download(film, name)
	} finally {
		app.film = null
		app.refresh()
	}
}

app.cancelFilm = () => {
	app.send({t: "cancel", id: app.film.id})
	answered(app.film.id)?.resolve(null)
}

app.stop = () => {
	app.playing = null
	app.changed()
}

// Shows the camera of this moment; cameras whose time has passed are left out.
function advance(now) {
	const {cameras, fps, start, index} = app.playing
	const next = Math.max(0, Math.floor(((now - start) / 1000) * fps))
	if (next === index) return
	const cam = cameras[Math.min(next, cameras.length - 1)]
	app.frame = next >= cameras.length ? 0 : next // Played to its end, it begins again.
	if (next >= cameras.length) app.playing = null
	else app.playing.index = next
	follow(Math.min(next, cameras.length - 1), cameras.length)
	app.setPose(...standing(cam))
}

app.send = message => {
	if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}

// Sends a request and returns the promise of its answer.
app.request = message =>
	new Promise((resolve, reject) => {
		if (!app.connected()) return reject(new Error("The connection is lost."))
		const id = ++number
		pending.set(id, {resolve, reject})
		waitingSince ||= performance.now()
		app.send({...message, id})
	})

function status() {
	const headers = {Authorization: `Bearer ${sessionStorage.getItem(TOKEN)}`}
	return fetch("status", {headers, signal: AbortSignal.timeout(SILENCE_MS), cache: "no-store"})
}

async function connect() {
	retryAt = 0
	if (!sessionStorage.getItem(TOKEN)) return refuse(INVALID)
	let answer
	try {
		const response = await status()
		if (response.status === 403) return refuse(INVALID)
		answer = await response.json()
	} catch {
		return lose()
	}
	if (socket) return // The button was pressed twice.
	if (answer.protocol !== PROTOCOL) return refuse(UPDATED, "Reload")
	if (answer.free === 0) return lose("All places for viewers are taken; --viewers allows more.")
	const address = new URL("ws", location.href)
	address.protocol = address.protocol.replace("http", "ws")
	const opened = new WebSocket(address, ["quadrille.v1", `token.${sessionStorage.getItem(TOKEN)}`])
	opened.binaryType = "arraybuffer"
	socket = opened
	waitingSince = performance.now()
	opened.onmessage = ({data}) => {
		if (opened !== socket) return
		waitingSince = 0
		if (typeof data === "string") onText(JSON.parse(data))
		else onBinary(data)
	}
	opened.onclose = () => opened === socket && lose(farewell)
}

// Ends the connection for good, until the button is pressed or another address is opened.
function refuse(text, button) {
	drop()
	setState("LOST")
	app.banner(text, button, () => {
		if (app.welcome) history.replaceState(null, "", app.link())
		location.reload()
	})
}

function drop() {
	const old = socket
	socket = null
	old?.close()
	clearTimeout(settleTimer)
	gotBytes = 0
	waitingSince = 0
	parts.clear()
	app.interrupt()
	for (const {reject} of pending.values()) reject(new Error("The connection was lost."))
	pending.clear()
	if (app.map && !app.map.picture) app.map = null
}

function lose(text = "Connection lost.") {
	drop()
	lossText = text
	retryAt = performance.now() + 1000 * RETRY_S[Math.min(attempts++, RETRY_S.length - 1)]
	setState("LOST")
	countDown()
}

function countDown() {
	if (!retryAt) return
	const left = retryAt - performance.now()
	if (document.hidden) return // Goes on when the page is visible again.
	if (left <= 0) return connect()
	app.banner(`${lossText} Trying again in ${Math.ceil(left / 1000)} s`, "Now", connect)
	setTimeout(countDown, Math.min(left, 200))
}

// A server that is stopped keeps its sockets open: if nothing answers, its status tells.
async function check() {
	if (!waitingSince || !socket || document.hidden) return
	if (performance.now() - waitingSince < SILENCE_MS) return
	waitingSince = Infinity
	const asked = socket
	try {
		await status()
		waitingSince = performance.now()
	} catch {
		if (asked === socket) lose()
	}
}

function onText(message) {
	const {t, id} = message
	const number = id ?? message.seq
	if (t === "welcome") onWelcome(message)
	else if (t === "scene") onScene(message)
	else if (t === "stats") app.details = message
	else if (t === "camera") app.goCam(message.cam)
	else if (t === "status") $("status").textContent = message.text
	else if (t === "legend") legends.set(number, message)
	else if (t === "bye" && message.again) reopen()
	else if (t === "bye") farewell = `Connection ended: ${message.reason}.`
	else if (t === "progress") {
		const job = [app.still, app.map, app.film].find(job => job && (job.seq ?? job.id) === id)
		if (job) job.progress = message.done
	} else if (t === "map" && app.map?.id === id) app.map.info = message
	else if (t === "error") onError(number, message)
	else answered(id)?.resolve(message)
	app.refresh()
}

// The server shows other scenes: nothing of the old ones is kept.
function reopen() {
	reopens = true
	sessionStorage.removeItem(LAST)
	location.reload()
}

// Asks for the scenes that can be opened, or opens one of them or a file. The name is JSON in ASCII, as headers have it.
app.scenes = async (method = "GET", name = null, body = undefined) => {
	const ascii = JSON.stringify(name).replace(/[\u007f-\uffff]/g, c => `\\u${c.charCodeAt().toString(16).padStart(4, "0")}`)
	const headers = {Authorization: `Bearer ${sessionStorage.getItem(TOKEN)}`, "scene-name": ascii}
	const response = await fetch("scene", {method, headers, body, cache: "no-store"})
	if (!response.ok) throw new Error(await response.text())
	return method === "GET" ? response.json() : null
}

// Takes a request out of those that wait for an answer.
function answered(id) {
	const request = pending.get(id)
	pending.delete(id)
	return request
}

function onError(number, {what, expected, found}) {
	const text = found ? `${what}: expected ${expected}, found ${found}` : what
	if (pending.has(number)) return answered(number).reject(new Error(text))
	if (app.map?.id === number) app.map = null
	if (app.still?.seq === number) {
		app.still = null
		setState("FAILED")
	}
	app.note(text, true)
}

// Whether the server has a source, as of an address of another scene.
const isKnown = ({photo, scene, profile, layer}) => {
	const {scenes, profiles, layers} = app.welcome
	return photo || (scenes[scene] && [null, ...profiles].includes(profile) && [null, ...layers].includes(layer))
}

function onWelcome(message) {
	const old = app.welcome
	const renewed = old && (old.version !== message.version || old.commit !== message.commit)
	if (message.protocol !== PROTOCOL || renewed) return refuse(UPDATED, "Reload")
	app.welcome = message
	app.number = message.number
	attempts = 0
	farewell = undefined
	app.banner(null)
	$("status").textContent = message.status
	if (!old) {
		app.up = message.up
		if (message.width) app.size = {mode: "custom", width: message.width, height: message.height}
		if (message.scenes.length > 1) app.b = {...app.a, scene: 1}
		;[app.pose, app.view, app.lens] = standing(message.cam ?? home(message))
	}
	app.fill()
	if (app.pace.scale !== "auto" || app.pace.quality !== "auto") app.send({t: "pace", ...app.pace})
	if (!message.views[app.view ?? app.lens]) app.view = app.lens = null
	takeLink()
	app.changed()
}

function onScene({scenes, number, warning, note}) {
	app.welcome.scenes = scenes
	app.number = number
	if (warning) return app.note(warning, true, "reload")
	if (note) app.note(note, false, "reload")
	app.fill()
	app.changed()
}

function readAddress() {
	const fields = new URLSearchParams(location.hash.slice(1))
	if (fields.has("t")) sessionStorage.setItem(TOKEN, fields.get("t"))
	// A page that is loaded again shows what it showed.
	link = fields.get("view") ?? (fields.has("t") ? null : sessionStorage.getItem(LAST))
	// The token is not left where it is read over a shoulder or copied by accident.
	if (location.hash) history.replaceState(null, "", location.pathname)
}

const standpoint = () => {
	const {a, b, compare: mode, split, gain, size} = app
	return JSON.stringify({cam: app.cam(), show: {a, b, mode, split, gain}, size})
}
addEventListener("pagehide", () => app.pose && !reopens && sessionStorage.setItem(LAST, standpoint()))
app.link = () => {
	const fields = new URLSearchParams({t: sessionStorage.getItem(TOKEN), view: standpoint()})
	return `${location.origin}${location.pathname}#${fields}`
}

// Takes the camera, the sources and the size of the address.
function takeLink() {
	if (!link) return
	try {
		const {cam, show, size = app.size} = JSON.parse(link)
		const [pose, view, lens] = standing(cam)
		if (!camera.isValid(pose, lens !== null) || ![show.a, show.b ?? show.a].every(isKnown)) throw link
		Object.assign(app, {pose, view, lens, size})
		;({a: app.a, b: app.b, mode: app.compare, split: app.split, gain: app.gain} = show)
	} catch {
		app.note("The address does not fit this scene; its view is left out.", true)
	}
	link = null
}

function readHeader(data) {
	const view = new DataView(data)
	const [kind, codec] = [view.getUint8(0), view.getUint8(1)]
	const [flags, w, h] = [2, 12, 14].map(at => view.getUint16(at, true))
	const [seq, render, encode, bytes, offset] = [4, 16, 20, 24, 28].map(at => view.getUint32(at, true))
	const [last, preview, empty] = [1, 2, 4].map(flag => (flags & flag) > 0)
	return {kind, codec, seq, w, h, render, encode, bytes, offset, last, preview, empty}
}

function onBinary(data) {
	const header = readHeader(data)
	const payload = new Uint8Array(data, HEADER_BYTES)
	gotBytes += payload.byteLength
	gotTimer ||= setTimeout(confirm, Math.max(0, lastGot + GOT_MS - performance.now()))
	if (header.kind === FRAME) return onFrame(header, payload)
	const key = `${header.kind} ${header.seq}`
	const whole = header.offset === 0 ? [] : parts.get(key)
	if (!whole) return
	whole.push(payload)
	parts.set(key, whole)
	if (!header.last) return
	parts.delete(key)
	const blob = new Blob(whole, {type: TYPES[header.codec]})
	if (blob.size !== header.bytes) {
		return app.note(`A picture of ${header.bytes} bytes arrived with ${blob.size} bytes.`, true)
	}
	if (header.kind === FILE) answered(header.seq)?.resolve(blob)
	else onWhole(header, blob)
}

function confirm() {
	gotTimer = 0
	lastGot = performance.now()
	app.send({t: "got", bytes: gotBytes})
}

// Neither a colour profile nor alpha may change a value between the file and the canvas.
const decode = blob => createImageBitmap(blob, {colorSpaceConversion: "none", premultiplyAlpha: "none"})

async function onFrame(header, payload) {
	const {seq} = header
	const picture = await decode(new Blob([payload], {type: TYPES[header.codec]}))
	// A late frame is confirmed as well: the server counts it as in flight.
	app.send({t: "shown", seq})
	if (seq <= drawnSeq || !sent.has(seq)) return picture.close()
	const now = performance.now()
	drawTimes.push(now)
	measured(header, now, jpegQuality(payload))
	put({seq, mode: "single", pictures: {[STILL_A]: picture}})
}

async function onWhole(header, blob) {
	const {kind, seq} = header
	const picture = await decode(blob)
	if (kind === MAP) {
		if (app.map?.id !== seq) return picture.close()
		const {width: w, height: h} = picture
		Object.assign(app.map, {picture, w, h, mode: "single", pictures: {[STILL_A]: picture}})
		draw()
		return app.refresh()
	}
	const {still} = app
	if (still?.seq !== seq) return picture.close()
	still.pictures[kind] = picture
	still.exact[kind] = header.codec !== 1 && !header.preview
	if (!still.wanted.every(wanted => still.pictures[wanted])) return
	measured(header, performance.now(), header.codec === 1 ? 90 : null)
	put({seq, mode: still.show.mode, pictures: {...still.pictures}})
	if (!still.wanted.every(wanted => still.exact[wanted])) return
	setState("EXACT")
	app.attempt(app.outline)
	app.nothing = header.empty && !still.show.b
	if (app.nothing) app.banner("No splats in view.", "Home", app.goHome)
}

// Quality of a JPEG by its first quantization step.
function jpegQuality(payload) {
	const at = payload.findIndex((byte, i) => byte === 0xff && payload[i + 1] === 0xdb)
	return QUALITIES[payload[at + 5]] ?? null
}

function measured({seq, w, h, render, encode, bytes}, now, quality) {
	const {at, w: width} = sent.get(seq)
	const scale = SCALES[Math.round((8 * w) / width)] ?? ""
	app.stats = {w, h, render, encode, bytes, latency: now - at, scale, quality}
	app.refresh()
}

function put(next) {
	const {w, h} = sent.get(next.seq)
	for (const picture of Object.values(current?.pictures ?? {})) {
		if (!Object.values(next.pictures).includes(picture)) picture.close()
	}
	current = {...next, w, h}
	drawnSeq = next.seq
	for (const seq of legends.keys()) if (seq < drawnSeq) legends.delete(seq)
	draw()
}

const equal = (a, b) => JSON.stringify(a) === JSON.stringify(b)
// Whether a shot has the camera and the size of the picture.
app.isHere = shot => equal(shot, app.shot(shot.source))
app.mapHere = () => app.map?.picture && equal(app.map.shot, ofScene(app.shot()))

const shown = () => (app.mapHere() ? app.map : current)
app.shownSize = () => [shown()?.w, shown()?.h]

// Draws what is shown. Only a preview that is smaller than the picture is smoothed. In large windows it is smoothed up to
// half of the sides, and the browser doubles the pixels: smoothing all of them takes longer than drawing the preview.
function draw() {
	if (!shown()) return
	const {w, h, mode, pictures} = shown()
	const {[STILL_A]: a, [STILL_B]: b, [DIFFERENCE]: difference} = pictures
	const whole = difference ?? (mode === "split" && app.compare === "blink" && app.side === "b" ? b : a)
	const isHalved = mode === "single" && 2 * whole.width <= w && w * h > LARGE_PIXELS
	const size = isHalved ? [w, h].map(side => Math.round(side / 2)) : [w, h]
	if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size
	canvas.style.imageRendering = isHalved ? "pixelated" : "auto"
	context.imageSmoothingEnabled = whole.width !== size[0] || whole.height !== size[1]
	context.drawImage(whole, 0, 0, ...size)
	const line = Math.round(app.split * w)
	if (mode === "split" && app.compare === "split" && line < w) {
		const scale = b.width / w
		context.drawImage(b, line * scale, 0, b.width - line * scale, b.height, line, 0, w - line, h)
	}
	layout()
}
app.draw = draw

// Places the canvas so that a pixel of the picture is one device pixel, or a block of them.
function layout() {
	if (!shown()) return
	const {w, h} = shown()
	const fit = Math.min(box.width / w, box.height / h)
	const factor = fit < 1 || app.size.mode === "window" ? fit : 1
	const css = value => value / devicePixelRatio
	app.place = {
		left: css(Math.floor((box.width - w * factor) / 2)),
		top: css(Math.floor((box.height - h * factor) / 2)),
		width: css(w * factor),
		height: css(h * factor)
	}
	for (const [name, value] of Object.entries(app.place)) canvas.style[name] = `${value}px`
	app.refresh()
}
app.legend = () => (app.mapHere() ? null : legends.get(drawnSeq))

// Point of the window in pixels of the picture.
app.pixelAt = (x, y) => {
	const bounds = canvas.getBoundingClientRect()
	const [w, h] = app.pictureSize()
	return [((x - bounds.left) / bounds.width) * w, ((y - bounds.top) / bounds.height) * h]
}

app.rate = () => {
	const now = performance.now()
	while (drawTimes[0] < now - 1000) drawTimes.shift()
	return drawTimes.length
}

app.showMap = request => {
	app.hideMap()
	const id = ++number
	const shot = ofScene(app.shot())
	app.map = {id, shot, request, progress: 0, info: null, picture: null}
	app.send({t: "map", id, shot, ...request})
	app.refresh()
}

app.hideMap = () => {
	if (app.map && !app.map.picture) app.send({t: "cancel", id: app.map.id})
	app.map = null
	draw()
	app.refresh()
}

app.cancelStill = () => {
	app.send({t: "cancel", id: app.still.seq})
	for (const source of [app.a, app.b]) if (source && !source.photo) source.renderer = "cpu"
	app.changed()
}

// The source under a pixel.
app.sourceAt = x => {
	const [w] = app.pictureSize()
	const mode = app.possible()
	const onB = (mode === "split" && x >= app.split * w) || (mode === "blink" && app.side === "b")
	return onB && !app.b.photo ? app.b : app.a
}

app.probeAt = async (x, y) => {
	const [w, h] = app.pictureSize()
	x = camera.clamp(Math.floor(x), 0, w - 1)
	y = camera.clamp(Math.floor(y), 0, h - 1)
	const shot = app.shot(app.sourceAt(x))
	const answer = await app.request({t: "probe", shot: ofPixels(shot), x, y})
	if (!answer.splats) return answer // A mesh has a surface, and no splats.
	app.probe = {...answer, shot}
	app.refresh()
	return app.probe
}

// Outlines of the splats that are seen, while the picture is exact.
app.outline = async () => {
	const shot = ofPixels(app.shot(app.shown()))
	if (!app.overlay.splats || app.state !== "EXACT" || app.isMesh(shot.source)) return
	const {outlines, all} = await app.request({t: "outlines", shot})
	if (app.state === "EXACT" && app.isHere(shot)) app.outlines = {path: rings(outlines), drawn: outlines.length, all}
	app.refresh()
}

app.centre = point => app.glide(camera.focus(app.pose, point), null, app.lens)
app.centreAt = async (x, y) => {
	const {point} = await app.probeAt(x, y)
	if (point) app.centre(point)
	else app.note("No surface here.")
}

app.save = async what => {
	if (app.state !== "EXACT") return app.note("The picture is saved once it is exact: try again.")
	const seq = app.still.seq
	const name = app.fileName(what)
	app.download(await app.request({t: "save", seq, what}), name)
}
// Name of a saved picture: scene, view, and what differs from the scene's own picture.
app.fileName = what => {
	const {views, scenes} = app.welcome
	const {photo, scene, profile, renderer, layer, filters = {}} = what === "b" ? app.b : app.a
	const stem = photo ? "photo" : scenes[scene].name.replace(/\.[^.]*$/, "")
	const map = what === "map" && [app.map.request.variant, app.map.request.map]
	const parts = [stem, views[app.view]?.name, profile, renderer !== "cpu" && renderer, layer, Object.keys(filters).length && "filtered", map, what === "difference" && what]
	return `${parts.flat().filter(Boolean).join(".").replaceAll(":", "-")}.png`
}

app.download = (content, name) => {
	const anchor = document.createElement("a")
	anchor.href = URL.createObjectURL(new Blob([content]))
	anchor.download = name
	anchor.click()
	setTimeout(() => URL.revokeObjectURL(anchor.href), 60000)
}

// Runs an action of a control; its failure becomes a note.
app.attempt = async action => {
	try {
		await action()
	} catch (error) {
		if (app.welcome) app.note(error.message, true)
	}
}

app.banner = (text, button, action) => {
	$("banner").hidden = text === null
	if ($("banner-text").textContent !== text) $("banner-text").textContent = text
	$("banner-button").hidden = !button
	$("banner-button").textContent = button
	$("banner-button").onclick = action
	if (text === null) app.nothing = false
}

createPanels(app)
const controls = createControls(app, $("stage"))

new ResizeObserver(([entry]) => {
	const {width, height} = entry.contentRect
	const [w, h] = [width, height].map(side => Math.round(side * devicePixelRatio))
	// Browsers that emulate a screen report CSS pixels here.
	const [{inlineSize, blockSize}] = entry.devicePixelContentBoxSize ?? [{}]
	const device = Math.abs(inlineSize - w) <= 1 && Math.abs(blockSize - h) <= 1
	box = device ? {width: inlineSize, height: blockSize} : {width: w, height: h}
	layout()
	if (app.pose && app.pictureSize().join() !== [current?.w, current?.h].join()) app.changed()
}).observe($("stage"))

document.addEventListener("visibilitychange", () => {
	if (document.hidden) app.interrupt()
	else if (retryAt) countDown()
	else if (!app.still) app.changed()
})
addEventListener("hashchange", () => location.hash && location.reload())
setInterval(check, 500)
setInterval(app.refresh, 500)
readAddress()
connect()
