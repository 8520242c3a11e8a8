// Lines over the picture: cameras of the listed views, axes and a grid. The page draws them, so that saved pictures are without.

import * as camera from "./camera.js"
import {outlines} from "./filters.js"

const FRUSTUM = 0.08 // Depth of a camera's pyramid in radii of the content.
const MOST_VIEWS = 500 // Pyramids; of more views, every Nth has one.
const GRID_LINES = 10 // On each side of the middle.
const HIT_PX = 12 // Distance of a click from a camera.
const RING = {few: 32, many: 16} // Chords of the ellipse of a splat, by the number of ellipses.
const FEW = 100
const CLIP = 1e-3 // Depth in radii at which lines end before the eye.

const corners = [
	[-1, -1],
	[1, -1],
	[1, 1],
	[-1, 1]
]

// Corners of the pyramid of a listed view, its eye first.
function pyramid({cam, width, height}, depth) {
	const {right, up, forward} = camera.axes(cam)
	const half = depth * Math.tan((Math.min(cam.fov_degrees, 120) * Math.PI) / 360)
	const middle = camera.add(cam.eye, camera.scale(forward, depth))
	const corner = ([x, y]) =>
		camera.add(middle, camera.add(camera.scale(right, (x * half * width) / height), camera.scale(up, y * half)))
	return [cam.eye, ...corners.map(corner)]
}

// Distance of the lines of the grid: 1, 2 or 5 times a power of ten.
export function gridStep(radius) {
	const power = 10 ** Math.floor(Math.log10(radius / 4))
	return power * [1, 2, 5].findLast(factor => factor * power <= radius / 4)
}

// Line segments in world space by kind.
function segments(app) {
	const {welcome, up, overlay, lens} = app
	const {views, home, radius} = welcome
	const found = {cameras: [], x: [], y: [], z: [], grid: [], crop: []}
	// Lines are straight through pinholes only.
	if (lens !== null && !views[lens].is_pinhole) return found
	found.crop = outlines(app)
	if (overlay.cameras) {
		const every = Math.ceil(views.length / MOST_VIEWS)
		for (let at = 0; at < views.length; at += every) {
			const [eye, ...base] = pyramid(views[at], FRUSTUM * radius)
			base.forEach((corner, i) => found.cameras.push([eye, corner], [corner, base[(i + 1) % 4]]))
		}
	}
	if (overlay.axes) {
		const origin = camera.norm(home.target) < 10 * radius ? [0, 0, 0] : home.target
		;["x", "y", "z"].forEach((axis, i) => {
			const end = [...origin]
			end[i] += radius
			found[axis].push([origin, end])
		})
	}
	if (overlay.grid) {
		const step = gridStep(radius)
		const normal = camera.unit(up)
		const side = camera.unit(camera.cross(normal, Math.abs(normal[0]) < 0.9 ? [1, 0, 0] : [0, 0, 1]))
		const other = camera.cross(normal, side)
		const at = (a, b) => camera.add(home.target, camera.add(camera.scale(side, a * step), camera.scale(other, b * step)))
		for (let i = -GRID_LINES; i <= GRID_LINES; i++) {
			found.grid.push([at(i, -GRID_LINES), at(i, GRID_LINES)], [at(-GRID_LINES, i), at(GRID_LINES, i)])
		}
	}
	return found
}

// Paths in pixels of the picture by kind, without the parts behind the eye.
export function paths(app, w, h) {
	const least = CLIP * app.welcome.radius
	const {forward} = camera.axes(app.pose)
	const depth = point => camera.dot(camera.subtract(point, app.pose.eye), forward)
	const clipped = (a, b) => {
		const [near, far] = [depth(a), depth(b)]
		if (near >= least) return a
		return camera.add(a, camera.scale(camera.subtract(b, a), (least - near) / (far - near)))
	}
	const number = value => camera.clamp(value, -1e5, 1e5).toFixed(1)
	const path = lines =>
		lines
			.filter(([a, b]) => Math.max(depth(a), depth(b)) > least)
			.map(([a, b]) => {
				const ends = [clipped(a, b), clipped(b, a)].map(point => app.project(point, w, h))
				return ends.map(([x, y], i) => `${"ML"[i]}${number(x)} ${number(y)}`).join("")
			})
			.join("")
	return Object.fromEntries(Object.entries(segments(app)).map(([kind, lines]) => [kind, path(lines)]))
}

// Listed view whose camera is drawn nearest to a point of the picture; `scale` is the length of a pixel on the screen.
export function viewAt(app, x, y, w, h, scale) {
	if (!app.overlay.cameras) return null
	let [best, least] = [null, HIT_PX]
	app.welcome.views.forEach(({cam}, view) => {
		const [px, py, depth] = app.project(cam.eye, w, h)
		const distance = Math.hypot(px - x, py - y) * scale
		if (depth > 0 && distance < least) [best, least] = [view, distance]
	})
	return best
}

// Path of the ellipses of splats.
export function rings(outlines) {
	const point = ([[x, y], cosine, sine], turn) =>
		[x + Math.cos(turn) * cosine[0] + Math.sin(turn) * sine[0], y + Math.cos(turn) * cosine[1] + Math.sin(turn) * sine[1]].map(v => v.toFixed(1)).join(" ")
	const chords = outlines.length > FEW ? RING.many : RING.few
	const turns = Array.from({length: chords}, (_, i) => (2 * Math.PI * i) / chords)
	return outlines.map(outline => `M${turns.map(turn => point(outline, turn)).join("L")}Z`).join("")
}
