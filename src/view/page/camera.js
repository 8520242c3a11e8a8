// Cameras and their movements, without the page: functions of poses that return new ones.
//
// A pose is { eye, target, up, fov }: two points, the direction towards the top of the picture, and the
// vertical field of view in degrees. In view space x points right, y down and z forward. `worldUp` is the
// unit vector about which the camera turns; angles are in radians.

// Largest elevation in degrees that a turn reaches, so that the heading stays defined. From a pose
// beyond it, turns only lead back.
export const MAX_ELEVATION = 89.9

// Sine of the angle to the vertical below which the cross product has lost half of its digits, so that
// the heading is read from the picture's right side.
const POLE_SINE = 1e-8

const DEGREE = Math.PI / 180

export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
export const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
export const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s]
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
export const norm = a => Math.hypot(a[0], a[1], a[2])
export const unit = a => scale(a, 1 / norm(a))
const along = (a, direction, s) => add(a, scale(direction, s))
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high)

// Largest coordinate that the server takes, and largest field of view at which a pinhole shows its middle as other
// lenses do: steps of movements through wider lenses have that of this field of view.
const MOST = 1e9
const WIDE = 120

// Whether the server makes a camera of the pose: finite, eye apart from target, `up` not along the line
// of sight, field of view within its limits unless it is that of a lens.
export function isValid({eye, target, up, fov}, ofLens = false) {
	if (![...eye, ...target, ...up, fov].every(value => Math.abs(value) <= MOST)) return false
	const forward = subtract(target, eye)
	const sine = norm(cross(forward, up)) / (norm(forward) * norm(up))
	return sine > 1e-9 && (ofLens || (fov >= 0.1 && fov <= 175))
}

// Axes of the picture in world space and the distance from eye to target.
export function axes({eye, target, up}) {
	const line = subtract(target, eye)
	const distance = norm(line)
	const forward = scale(line, 1 / distance)
	const right = unit(cross(forward, up))
	return {right, up: cross(right, forward), forward, distance}
}

// Heading as the level direction to the right, elevation and roll against `worldUp`.
export function attitude(pose, worldUp) {
	const {right, forward} = axes(pose)
	let level = cross(forward, worldUp)
	const sine = norm(level)
	if (sine > POLE_SINE) {
		level = scale(level, 1 / sine)
	} else {
		level = unit(along(right, worldUp, -dot(right, worldUp)))
	}
	const elevation = Math.atan2(dot(forward, worldUp), sine)
	const levelUp = cross(level, forward)
	return {level, elevation, roll: Math.atan2(dot(right, levelUp), dot(right, level))}
}

function directions({level, elevation, roll}, worldUp) {
	const ahead = cross(worldUp, level)
	const forward = along(scale(ahead, Math.cos(elevation)), worldUp, Math.sin(elevation))
	const levelUp = cross(level, forward)
	const up = along(scale(levelUp, Math.cos(roll)), level, -Math.sin(roll))
	return {forward, up: unit(up)}
}

// Turns the line of sight by angles towards the left and the top of the picture. Roll and distance stay.
function turn(pose, worldUp, left, rise, aboutTarget) {
	const now = attitude(pose, worldUp)
	const [sin, cos] = [Math.sin(now.roll), Math.cos(now.roll)]
	// Of a rolled camera, the sides of the screen do not follow heading and elevation.
	const heading = left * cos + rise * sin
	const climb = rise * cos - left * sin
	const limit = MAX_ELEVATION * DEGREE
	const elevation = clamp(now.elevation + climb, Math.min(-limit, now.elevation), Math.max(limit, now.elevation))
	const ahead = cross(worldUp, now.level)
	const level = unit(along(scale(now.level, Math.cos(heading)), ahead, Math.sin(heading)))
	const {forward, up} = directions({level, elevation, roll: now.roll}, worldUp)
	const distance = norm(subtract(pose.target, pose.eye))
	return aboutTarget
		? {...pose, up, eye: along(pose.target, forward, -distance)}
		: {...pose, up, target: along(pose.eye, forward, distance)}
}

// Moves the eye about the target by angles to the right and upwards.
export const orbit = (pose, worldUp, right, rise) => turn(pose, worldUp, right, -rise, true)

// Turns the line of sight about the eye by angles to the right and upwards.
export const look = (pose, worldUp, right, rise) => turn(pose, worldUp, -right, rise, false)

// Rolls the camera clockwise; the picture turns the other way.
export function roll(pose, angle) {
	const {right, up} = axes(pose)
	return {...pose, up: unit(along(scale(up, Math.cos(angle)), right, Math.sin(angle)))}
}

// Removes the roll.
export function level(pose, worldUp) {
	const now = attitude(pose, worldUp)
	return {...pose, up: directions({...now, roll: 0}, worldUp).up}
}

const translate = (pose, by) => ({...pose, eye: add(pose.eye, by), target: add(pose.target, by)})

// Focal length in pixels of a picture of the height.
const focal = (pose, height) => height / 2 / Math.tan((Math.min(pose.fov, WIDE) * DEGREE) / 2)

// Field of view in degrees of a focal length in a picture of the height, both in pixels.
export const fieldOfView = (length, height) => (2 * Math.atan(height / 2 / length)) / DEGREE

// Direction through a point of a picture of w x h pixels; its depth is 1.
export function ray(pose, x, y, w, h) {
	const {right, up, forward} = axes(pose)
	const f = focal(pose, h)
	return along(along(forward, right, (x - w / 2) / f), up, (h / 2 - y) / f)
}

// Focal lengths and principal point of a pinhole of the list in a picture of w x h pixels, as the server resizes it.
export function intrinsics({width, height, focal_px: focal, principal_px: [x, y]}, w, h) {
	const factor = h / height
	return {focal: focal.map(length => length * factor), middle: [w / 2 + (x - width / 2) * factor, y * factor]}
}

// Picture coordinates and depth of a world point: [x, y, depth]. Without `lens`, the field of view is that of the pose.
export function project(pose, point, w, h, lens = null) {
	const {right, up, forward} = axes(pose)
	const offset = subtract(point, pose.eye)
	const depth = dot(offset, forward)
	const f = focal(pose, h)
	const {focal: [fx, fy], middle: [x, y]} = lens ?? {focal: [f, f], middle: [w / 2, h / 2]}
	return [x + (fx * dot(offset, right)) / depth, y - (fy * dot(offset, up)) / depth, depth]
}

// Shifts the camera so that a point at the target's depth moves by (dx, dy) pixels.
export function pan(pose, dx, dy, h) {
	const {right, up, distance} = axes(pose)
	const step = distance / focal(pose, h)
	return translate(pose, along(scale(right, -dx * step), up, dy * step))
}

// Scales the distance to the point under (x, y) at the target's depth, which stays under (x, y). Below
// `least` the target is pushed ahead, so that the camera passes through what it approaches.
export function dolly(pose, factor, x, y, w, h, least) {
	const {distance} = axes(pose)
	const direction = ray(pose, x, y, w, h)
	const moved = translate(pose, scale(direction, distance * (1 - factor)))
	const forward = scale(subtract(pose.target, pose.eye), 1 / distance)
	const next = Math.max(distance * factor, Math.min(least, distance))
	return {...moved, target: along(moved.eye, forward, next)}
}

// Moves the camera by distances to the right, upwards along `worldUp`, and forward.
export function fly(pose, worldUp, [right, rise, ahead]) {
	const at = axes(pose)
	return translate(pose, along(along(scale(at.right, right), worldUp, rise), at.forward, ahead))
}

// Brings a point onto the line of sight and makes it the target; its depth and the directions stay.
export function focus(pose, point) {
	const {forward} = axes(pose)
	const depth = dot(subtract(point, pose.eye), forward)
	return {...pose, target: point, eye: along(point, forward, -depth)}
}

// Places the target of a camera that states a direction only: closest to the centre of the content, or
// at the distance `radius` if that is behind the eye or near it.
export function withPivot(pose, centre, radius) {
	const {forward} = axes(pose)
	const depth = dot(subtract(centre, pose.eye), forward)
	return {...pose, target: along(pose.eye, forward, depth > radius / 20 ? depth : radius)}
}

// Pose at `t` of 0..=1 on the way from one to another, with a smooth start and end. The target is mixed,
// not the eye, so that the content stays in view; a way through opposite directions ends at once.
export function interpolate(from, to, t) {
	if (t <= 0) return from
	const s = t * t * (3 - 2 * t)
	const mix = (a, b) => along(scale(a, 1 - s), b, s)
	const [a, b] = [axes(from), axes(to)]
	const target = mix(from.target, to.target)
	const distance = a.distance ** (1 - s) * b.distance ** s
	const eye = along(target, unit(mix(a.forward, b.forward)), -distance)
	const fov = from.fov * (1 - s) + to.fov * s
	const pose = {eye, target, up: mix(a.up, b.up), fov}
	return t < 1 && isValid(pose, true) ? {...pose, up: axes(pose).up} : to
}
