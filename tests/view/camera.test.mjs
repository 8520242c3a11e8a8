// Movements of the page's camera: `node --test tests/view/camera.test.mjs`.

import assert from "node:assert/strict"
import test from "node:test"
import * as camera from "../../src/view/page/camera.js"

const DEGREE = Math.PI / 180
const AXES = [
	[1, 0, 0],
	[0, 1, 0],
	[0, 0, 1]
].flatMap(axis => [axis, axis.map(value => -value)])

const close = (a, b, tolerance, what) => {
	const difference = Math.max(...[a].flat().map((value, i) => Math.abs(value - [b].flat()[i])))
	assert.ok(difference <= tolerance, `${what}: expected ${b}, found ${a}`)
}
const unproject = (pose, x, y, w, h, depth) => camera.add(pose.eye, camera.scale(camera.ray(pose, x, y, w, h), depth))
const distance = ({eye, target}) => camera.norm(camera.subtract(target, eye))

// Deterministic numbers in 0..1 (mulberry32).
function random(seed) {
	let state = seed
	return () => {
		state = (state + 0x6d2b79f5) | 0
		let t = Math.imul(state ^ (state >>> 15), 1 | state)
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296
	}
}

// The 24 pairs of an up axis and a level line of sight along another axis.
const STANDS = AXES.flatMap(up => AXES.filter(forward => camera.dot(up, forward) === 0).map(forward => ({up, forward})))

function poseOf({up, forward}, length = 4) {
	const eye = [0.3, -1.7, 2.9]
	return {eye, target: camera.add(eye, camera.scale(forward, length)), up, fov: 50}
}

test("there are 24 stands", () => assert.equal(STANDS.length, 24))

for (const stand of STANDS) {
	const name = `up ${stand.up}, forward ${stand.forward}`
	const pose = poseOf(stand)
	const right = camera.cross(stand.forward, stand.up)

	test(`axes of the program's convention: ${name}`, () => {
		const at = camera.axes(pose)
		close(at.right, right, 1e-15, "right")
		close(at.up, stand.up, 1e-15, "up")
		// x right, y down, z forward is a right-handed system.
		close(camera.cross(at.right, camera.scale(at.up, -1)), at.forward, 1e-15, "forward")
	})

	test(`orbit and look turn to the sides that their names say: ${name}`, () => {
		const offset = camera.subtract(camera.orbit(pose, stand.up, 0.1, 0).eye, pose.eye)
		assert.ok(camera.dot(offset, right) > 0, "the eye goes right")
		const risen = camera.subtract(camera.orbit(pose, stand.up, 0, 0.1).eye, pose.eye)
		assert.ok(camera.dot(risen, stand.up) > 0, "the eye goes up")
		const seen = camera.subtract(camera.look(pose, stand.up, 0.1, 0).target, pose.target)
		assert.ok(camera.dot(seen, right) > 0, "the target goes right")
		const above = camera.subtract(camera.look(pose, stand.up, 0, 0.1).target, pose.target)
		assert.ok(camera.dot(above, stand.up) > 0, "the target goes up")
	})

	test(`a full turn leads back: ${name}`, () => {
		let turned = pose
		for (let i = 0; i < 120; i++) turned = camera.orbit(turned, stand.up, 3 * DEGREE, 0)
		close(turned.eye, pose.eye, 1e-12, "eye")
		close(turned.up, pose.up, 1e-12, "up")
	})

	test(`poles: ${name}`, () => {
		for (const side of [1, -1]) {
			let turned = pose
			for (let i = 0; i < 100; i++) {
				turned = camera.orbit(turned, stand.up, 0.05, side * 0.05)
				const {elevation, roll} = camera.attitude(turned, stand.up)
				assert.ok(Math.abs(elevation) <= camera.MAX_ELEVATION * DEGREE + 1e-12)
				close(roll, 0, 1e-9, "roll")
				assert.ok(camera.isValid(turned))
			}
			close(camera.attitude(turned, stand.up).elevation, -side * 89.9 * DEGREE, 1e-12, "limit")
			const back = camera.orbit(turned, stand.up, 0, -side * 0.5)
			close(camera.attitude(back, stand.up).elevation, -side * (89.9 * DEGREE - 0.5), 1e-12, "back")
		}
	})

	test(`a line of sight along the vertical has a heading: ${name}`, () => {
		for (const side of [1, -1]) {
			const forward = camera.scale(stand.up, side)
			const vertical = poseOf({up: stand.forward, forward})
			const still = camera.orbit(vertical, stand.up, 0, 0)
			close(still.eye, vertical.eye, 1e-14, "eye")
			close(still.up, vertical.up, 1e-14, "up")
			const turned = camera.orbit(vertical, stand.up, 0.2, 0)
			close(turned.eye, vertical.eye, 1e-12, "the eye stays on the axis")
			close(camera.dot(turned.up, vertical.up), Math.cos(0.2), 1e-12, "the picture turns")
			const left = camera.look(vertical, stand.up, 0, -side * 0.3)
			close(camera.attitude(left, stand.up).elevation, side * (90 * DEGREE - 0.3), 1e-12, "leaves")
		}
	})
}

test("orbit and look keep distance and roll over many turns", () => {
	const next = random(7)
	for (const startRoll of [0, 0.4, -2.8]) {
		const up = camera.unit([0.2, -0.9, 0.3])
		let pose = camera.level({eye: [3, -2, 5], target: [0.5, 0.2, -0.4], up: [0, -1, 0], fov: 50}, up)
		pose = camera.roll(pose, startRoll)
		const [length, angle] = [distance(pose), camera.attitude(pose, up).roll]
		for (let i = 0; i < 10000; i++) {
			const turn = i % 2 ? camera.orbit : camera.look
			pose = turn(pose, up, next() - 0.5, 0.4 * (next() - 0.5))
		}
		close(distance(pose) / length, 1, 1e-11, "distance")
		close(camera.attitude(pose, up).roll, angle, 1e-9, "roll")
		close(camera.norm(pose.up), 1, 1e-14, "length of up")
	}
})

test("the picture follows the pointer whatever the roll", () => {
	const up = [0, 0, 1]
	const level = {eye: [0, -5, 0], target: [0, 0, 0], up, fov: 50}
	for (let angle = -3; angle <= 3; angle += 0.5) {
		const pose = camera.roll(level, angle)
		// A point in front of the target moves right on the screen if the eye goes left.
		const turned = camera.orbit(pose, up, -0.01, 0)
		const [x, y] = camera.project(turned, [0, -1, 0], 640, 360)
		assert.ok(x > 320 && Math.abs(y - 180) < 0.1 * (x - 320), `roll ${angle}: ${x}, ${y}`)
	}
})

test("roll turns clockwise, level removes it", () => {
	const pose = {eye: [0, 0, 0], target: [0, 0, 1], up: [0, -1, 0], fov: 50}
	const rolled = camera.roll(pose, 30 * DEGREE)
	close(rolled.up, [0.5, -Math.cos(30 * DEGREE), 0], 1e-15, "up leans to the right (x)")
	close(camera.level(rolled, [0, -1, 0]).up, pose.up, 1e-15, "level")
	const full = Array.from({length: 72}).reduce(p => camera.roll(p, 5 * DEGREE), pose)
	close(full.up, pose.up, 1e-13, "full turn")
})

test("unproject and project are inverse", () => {
	const pose = {eye: [1, 2, 3], target: [-2, 0.5, 1], up: [0.1, -1, 0.2], fov: 63}
	for (const [x, y, depth] of [
		[0, 0, 0.5],
		[639.5, 12.25, 7],
		[320, 180, 2]
	]) {
		const point = unproject(pose, x, y, 640, 360, depth)
		close(camera.project(pose, point, 640, 360), [x, y, depth], 1e-11, "pixel")
	}
	// The top of the picture is half the field of view above the line of sight.
	const {forward} = camera.axes(pose)
	const top = camera.unit(camera.ray(pose, 320, 0, 640, 360))
	close(Math.acos(camera.dot(top, forward)), 31.5 * DEGREE, 1e-12, "half the field of view")
})

test("dolly keeps the point under the cursor and scales the distance", () => {
	const pose = {eye: [1, 2, 3], target: [-2, 0.5, 1], up: [0, -1, 0], fov: 50}
	const length = distance(pose)
	for (const [x, y] of [
		[320, 180],
		[10, 350],
		[600, 20]
	]) {
		const point = unproject(pose, x, y, 640, 360, length)
		for (const factor of [0.8, 1.25]) {
			const moved = camera.dolly(pose, factor, x, y, 640, 360, 0.01)
			close(camera.project(moved, point, 640, 360), [x, y, length * factor], 1e-10, "point")
			close(distance(moved), length * factor, 1e-12, "distance")
			close(camera.axes(moved).forward, camera.axes(pose).forward, 1e-14, "direction")
		}
	}
	let near = pose
	for (let i = 0; i < 200; i++) near = camera.dolly(near, 0.8, 10, 350, 640, 360, 0.01)
	close(distance(near), 0.01, 1e-12, "least distance")
	const further = camera.dolly(near, 0.8, 320, 180, 640, 360, 0.01)
	const step = camera.subtract(further.eye, near.eye)
	assert.ok(camera.dot(step, camera.axes(near).forward) > 0.001, "passes through")
})

test("pan moves the target's plane with the pointer", () => {
	const pose = {eye: [1, 2, 3], target: [-2, 0.5, 1], up: [0.3, -1, 0], fov: 50}
	const moved = camera.pan(pose, 40, -25, 360)
	close(camera.project(moved, pose.target, 640, 360).slice(0, 2), [360, 155], 1e-10, "target")
	close(distance(moved), distance(pose), 1e-12, "distance")
})

test("fly moves along the axes", () => {
	const pose = {eye: [0, 0, 0], target: [0, 0, 4], up: [0, -1, 0], fov: 50}
	const moved = camera.fly(pose, [0, -1, 0], [1, 2, 3])
	close(moved.eye, [1, -2, 3], 1e-15, "eye")
	close(moved.target, [1, -2, 7], 1e-15, "target")
})

test("focus brings a point to the middle at its depth", () => {
	const pose = {eye: [1, 2, 3], target: [-2, 0.5, 1], up: [0, -1, 0], fov: 50}
	const point = unproject(pose, 100, 300, 640, 360, 2.5)
	const moved = camera.focus(pose, point)
	close(camera.project(moved, point, 640, 360), [320, 180, 2.5], 1e-10, "middle")
	assert.deepEqual(moved.target, point)
})

test("the pivot of a listed camera lies on its line of sight", () => {
	const pose = {eye: [0, 0, -10], target: [0, 0, -9], up: [0, -1, 0], fov: 50}
	close(camera.withPivot(pose, [1, 2, 3], 5).target, [0, 0, 3], 1e-14, "closest to the centre")
	close(camera.withPivot(pose, [1, 2, -30], 5).target, [0, 0, -5], 1e-14, "centre behind")
})

test("interpolation meets both ends, keeps unit axes and a common target", () => {
	const from = {eye: [4, 0, 0], target: [0, 0, 0], up: [0, -1, 0], fov: 40}
	const next = random(3)
	for (let i = 0; i < 200; i++) {
		const vector = () => [0, 1, 2].map(() => 4 * next() - 2)
		const to = {eye: vector(), target: vector(), up: vector(), fov: 60}
		const levelled = {...to, up: camera.axes(to).up}
		assert.equal(camera.interpolate(from, levelled, 0), from)
		assert.equal(camera.interpolate(from, levelled, 1), levelled)
		for (const t of [1e-7, 0.25, 0.5, 1 - 1e-7]) {
			const pose = camera.interpolate(from, levelled, t)
			assert.ok(camera.isValid(pose))
			close(camera.norm(pose.up), 1, 1e-12, "up")
			close(camera.dot(pose.up, camera.axes(pose).forward), 0, 1e-9, "right angle")
		}
		close(camera.interpolate(from, levelled, 1e-7).eye, from.eye, 1e-9, "start")
		close(camera.interpolate(from, levelled, 1 - 1e-7).eye, levelled.eye, 1e-9, "end")
		close(camera.interpolate(from, levelled, 1 - 1e-7).up, levelled.up, 1e-9, "end")
	}
	const quarter = camera.orbit(from, [0, -1, 0], 90 * DEGREE, 0)
	const half = camera.interpolate(from, quarter, 0.5)
	close(half.target, from.target, 1e-12, "target")
	close(half.eye, camera.orbit(from, [0, -1, 0], 45 * DEGREE, 0).eye, 1e-12, "half way")
})

test("poses that make no camera are refused", () => {
	const pose = {eye: [0, 0, 0], target: [0, 0, 1], up: [0, -1, 0], fov: 50}
	assert.ok(camera.isValid(pose))
	for (const change of [{target: [0, 0, 0]}, {up: [0, 0, 2]}, {up: [0, 0, 0]}, {fov: 176}, {fov: 0}, {eye: [NaN, 0, 0]}]) {
		assert.ok(!camera.isValid({...pose, ...change}), JSON.stringify(change))
	}
})
