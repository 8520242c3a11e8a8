// Filters of the splats: the controls that set them, and the outlines of crops over the picture.

import * as camera from "./camera.js"

const AXES = ["x", "y", "z"]
const REACH = 2 // Farthest sides of a crop from the middle of the content, in its radii.
const OCTAVES = 12 // Of the slider for the largest size of splats, below the radius of the content.
const CIRCLE = 48 // Chords of a circle.

const short = value => Number(value.toPrecision(4))

export function createFilters(app, $, make) {
	const slider = (label, properties) => make("input", "", {type: "range", ariaLabel: label, ...properties})
	// Filters hold for all splats that are shown.
	const set = change => {
		for (const side of ["a", "b"]) {
			const source = app[side]
			if (!source || source.photo || app.isMesh(source)) continue
			const filters = {...source.filters, ...change}
			for (const [name, value] of Object.entries(filters)) if (value === null) delete filters[name]
			app[side] = {...source, filters}
		}
		app.changed()
	}
	const current = () => filtersOf(app)
	const live = (id, value) => ($(id).oninput = () => set(value($(id).value)))

	live("filter-opacity", value => ({opacity_min: Number(value) || null}))
	live("filter-size", value => ({scale_max: Number(value) < 0 ? short(app.welcome.radius * 2 ** value) : null}))
	live("filter-degree", value => ({sh_degree: value === "" ? null : Number(value)}))
	live("filter-scale", value => ({splat_scale: Number(value) ? short(2 ** value) : null}))
	$("filter-condition").onchange = () => set({condition: $("filter-condition").value.trim() || null})
	$("filter-reset").onclick = () => set(Object.fromEntries(Object.keys(current()).map(name => [name, null])))

	// Sliders of a crop, one for each number.
	function crop(name, labels, initial, limits) {
		const inputs = labels.map((label, i) => {
			const input = slider(label, {oninput: () => move(i)})
			input.id = `filter-${name}-${i}`
			return input
		})
		const move = i => {
			const values = inputs.map(input => short(Number(input.value)))
			// The side that is moved pushes the opposite one.
			if (name === "box") {
				const other = (i + 3) % 6
				values[other] = i < 3 ? Math.max(values[other], values[i]) : Math.min(values[other], values[i])
			}
			set({[`keep_${name}`]: values})
		}
		$(`filter-${name}`).onchange = ({target}) => set({[`keep_${name}`]: target.checked ? initial().map(short) : null})
		return {inputs, show: values => {
			$(`filter-${name}`).checked = Boolean(values)
			$(`filter-${name}-rows`).hidden = !values
			if (!values) return
			limits().forEach(([min, max], i) => {
				Object.assign(inputs[i], {min, max, step: "any"})
				if (document.activeElement !== inputs[i]) inputs[i].value = values[i]
			})
		}}
	}
	const reach = () => app.welcome.radius * REACH
	const middle = () => app.welcome.home.target
	const around = distance => middle().map(at => [at - distance, at + distance])
	const box = crop(
		"box",
		["least", "greatest"].flatMap(end => AXES.map(axis => `${axis} of the ${end} corner`)),
		() => [-1, 1].flatMap(sign => middle().map(at => at + (sign * reach()) / 2)),
		() => [...around(reach()), ...around(reach())]
	)
	const sphere = crop(
		"sphere",
		[...AXES.map(axis => `${axis} of the centre`), "radius"],
		() => [...middle(), app.welcome.radius],
		() => [...around(reach()), [0, reach()]]
	)
	const row = (label, inputs) => make("div", [make("span", label), make("span", inputs)], {className: "row"})
	$("filter-box-rows").append(...AXES.map((axis, i) => row(axis, [box.inputs[i], box.inputs[i + 3]])))
	$("filter-sphere-rows").append(...[...AXES, "radius"].map((label, i) => row(label, [sphere.inputs[i]])))

	return {
		update() {
			$("filters").hidden = app.isMesh(app.a) && (!app.b || app.b.photo || app.isMesh(app.b))
			const {opacity_min: opacity, scale_max: size, condition, sh_degree: degree, splat_scale: factor, keep_box, keep_sphere} = current()
			const put = (id, value, text) => {
				if (document.activeElement !== $(id)) $(id).value = value
				if ($(`${id}-value`)) $(`${id}-value`).textContent = text
			}
			put("filter-opacity", opacity ?? 0, opacity ? opacity.toFixed(2) : "all")
			$("filter-size").min = -OCTAVES
			put("filter-size", size ? Math.log2(size / app.welcome.radius) : 0, size ?? "all")
			put("filter-scale", factor ? Math.log2(factor) : 0, `× ${factor ?? 1}`)
			put("filter-degree", degree ?? "")
			put("filter-condition", condition ?? "")
			box.show(keep_box)
			sphere.show(keep_sphere)
			$("filter-reset").disabled = !Object.keys(current()).length
		}
	}
}

// Filters of the first source of splats.
const filtersOf = app => [app.a, app.b].find(source => source && !source.photo && !app.isMesh(source))?.filters ?? {}

// Line segments in world space around what crops keep.
export function outlines(app) {
	const {keep_box: box, keep_sphere: sphere} = filtersOf(app)
	const found = []
	if (box) {
		const corner = bits => AXES.map((_, axis) => box[axis + (bits & (1 << axis) ? 3 : 0)])
		for (let bits = 0; bits < 8; bits++) {
			for (const flip of [1, 2, 4]) if (!(bits & flip)) found.push([corner(bits), corner(bits | flip)])
		}
	}
	if (sphere) {
		const [radius, centre] = [sphere[3], sphere.slice(0, 3)]
		AXES.forEach((_, axis) => {
			const at = i => {
				const turn = (2 * Math.PI * i) / CIRCLE
				const offset = [0, 0, 0]
				offset[(axis + 1) % 3] = radius * Math.cos(turn)
				offset[(axis + 2) % 3] = radius * Math.sin(turn)
				return camera.add(centre, offset)
			}
			for (let i = 0; i < CIRCLE; i++) found.push([at(i), at(i + 1)])
		})
	}
	return found
}
