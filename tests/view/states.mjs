// What a page of `quadrille view` shows against its copied commands, and its conduct with wide lenses, meshes and large
// windows:
//
//     npm ci && node states.mjs QUADRILLE SCENE
//
// QUADRILLE, SCENE, CHROMIUM, PAGE and CHECKS are those of browser.mjs. In every state, the saved picture equals the file that
// the copied command writes in a shell, byte for byte. Ends with "N passed, N failed".

import {existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from "node:fs"
import {basename, join, resolve} from "node:path"
import {chromium} from "playwright-core"
import {canvas, copied, distance, downloaded, exact, openPage, reach, saved, settled, size, state, tab, text, value, vector, workplace} from "./pages.mjs"
import {check, differing, expect, finish, serve, stop} from "./support.mjs"

const [, , quadrille, scene] = process.argv
if (!scene) {
	console.error("usage: node states.mjs QUADRILLE SCENE")
	process.exit(2)
}
const [BINARY, SCENE] = [resolve(quadrille), resolve(scene)]
const {folder, sh} = workplace(BINARY)
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu", ...(process.env.PAGE ? ["--disable-features=LocalNetworkAccessChecks"] : [])]
})
const quoted = word => `'${word.replaceAll("'", `'\\''`)}'`

// Another scene, with a name that would leave its word in a shell, or be taken for a flag.
const SECOND = "it's $(touch pwned) --profile second.ply"
sh(`quadrille convert ${quoted(SCENE)} -o ${quoted(SECOND)} --where 'opacity > 0.6'`)
const CAMERAS = `${SCENE.replace(/\.ply$/, "")}.cameras.json`
const cameras = JSON.parse(readFileSync(CAMERAS, "utf8"))
const write = (name, content) => writeFileSync(join(folder, name), JSON.stringify(content))

const photos = join(folder, "photos")
mkdirSync(photos)
sh(`quadrille render ${quoted(SCENE)} --view all --profile gsplat-aa --width 640 -o 'photos/{view}.png'`)

// Opens a page on a server of its own, for as long as the checks last.
async function shown(words, checks, options) {
	const server = await serve(BINARY, [...words, "--port", "0"], {cwd: folder})
	const page = await openPage(browser, server.url, options)
	const faults = []
	// Browsers log each answer of 422, by which the server refuses a scene.
	page.on("console", message => message.text().includes("status of 422") || faults.push(`console: ${message.text()}`))
	page.on("pageerror", error => faults.push(`error: ${error.message}`))
	await page.goto(server.url)
	await reach(page, "EXACT")
	await checks(page, server)
	await page.context().close()
	await stop(server.child)
	await check(`no message on the console: ${words.join(" ").slice(-60)}`, async () => {
		expect(faults.length === 0, [...new Set(faults)].join("; "))
		expect(!existsSync(join(folder, "pwned")), "a name was run by a shell")
	})
}

// Saves the picture, runs the copied command in a shell, and compares the files.
async function equals(page, what = "render") {
	await exact(page)
	const found = await saved(page, "save")
	const command = await copied(page, folder, what)
	const maps = join(folder, "maps")
	for (const file of readdirSync(folder)) if (/^picture\..*png$/.test(file)) rmSync(join(folder, file))
	rmSync(maps, {recursive: true, force: true})
	sh(command)
	const kind = what === "sim" && (await value(page, "map-kind"))
	const written = kind
		? readdirSync(maps).filter(file => file.endsWith(`.${kind}.png`)).map(file => join(maps, file))
		: readdirSync(folder).filter(file => /^picture\.(?!rgba).*png$/.test(file)).map(file => join(folder, file))
	expect(written.length === 1, `${command} writes ${written.map(file => basename(file))}`)
	expect(found.equals(readFileSync(written[0])), `the saved picture is not that of ${command}`)
	return command.replace(/^quadrille (\w+).*?( --.*)/, "$1$2").slice(0, 120)
}
const key = async (page, ...keys) => {
	await page.locator("#stage").focus()
	for (const name of keys) await page.keyboard.press(name)
}
const moved = async page => {
	await key(page, "ArrowLeft", "ArrowUp", "Shift+ArrowLeft", "Period")
	await exact(page)
}
const select = async (page, id, option) => {
	await tab(page, id.startsWith("b-") ? "compare" : "view")
	await page.selectOption(`#${id}`, option)
	await exact(page)
}

// ---- A sequence ----

const TURNING = "turning'; 1"
mkdirSync(join(folder, TURNING))
for (const number of [1, 2, 3]) {
	sh(`quadrille convert ${quoted(SCENE)} --rotate 0,${20 * number},0 -o ${quoted(`${TURNING}/t_${number}.ply`)}`)
}
await shown([TURNING, "--cameras", CAMERAS], async page => {
	const heading = async () => {
		await page.waitForFunction(() => document.getElementById("scene-now").textContent !== "")
		return text(page, "scene")
	}
	await check("state: a scene of a sequence", async () => {
		await size(page, 160, 96)
		await tab(page, "path")
		expect((await heading()) === "t_1.ply", `the heading is ${await heading()}`)
		const first = await canvas(page)
		await page.fill("#scene-number", "2")
		await page.waitForFunction(() => document.getElementById("scene").textContent === "t_3.ply")
		await exact(page)
		expect(differing(await canvas(page), first) > 100, "the picture is that of the first scene")
		expect((await text(page, "scene-now")) === "3 of 3", await text(page, "scene-now"))
		const remark = await equals(page)
		const command = await copied(page, folder)
		expect(command.includes("t_3.ply"), command)
		return remark
	})
	await check("state: a film of a sequence, byte by byte that of the copied command", async () => {
		await tab(page, "path")
		await page.selectOption("#path-fps", "24")
		await page.click("#key-add")
		await key(page, "ArrowLeft", "ArrowUp")
		await exact(page)
		await page.click("#key-add")
		await page.fill("#keys li:nth-child(2) input", "0.25")
		await page.locator("#keys li:nth-child(2) input").blur()
		const path = await downloaded(page, "path-save")
		writeFileSync(join(folder, path.name), path.bytes)
		const film = await downloaded(page, "film-save")
		const command = await value(page, "film-command")
		rmSync(join(folder, film.name), {force: true})
		sh(command)
		expect(film.bytes.equals(readFileSync(join(folder, film.name))), `the film is not that of ${command}`)
		for (const [frame, scene] of [["0", "t_1.ply"], ["6", "t_3.ply"], ["3", "t_2.ply"]]) {
			await page.fill("#path-time", frame)
			await page.waitForFunction(name => document.getElementById("scene").textContent === name, scene)
		}
		return command.slice(0, 120)
	})
	await check("the scenes are played before a camera that rests", async () => {
		for (let i = 0; i < 2; i++) await page.locator("#keys button[title='Delete key']").first().click()
		await exact(page)
		const eye = await value(page, "eye")
		await page.fill("#scene-number", "0")
		await page.waitForFunction(() => document.getElementById("scene").textContent === "t_1.ply")
		await page.click("#play")
		await page.waitForFunction(() => document.getElementById("scene").textContent === "t_3.ply")
		await exact(page)
		expect((await value(page, "eye")) === eye, "the camera moved")
	})
})

// ---- Splats of two scenes ----

await shown([SCENE, "--with", SECOND, "--photos", photos], async page => {
	await check("state: a listed view", async () => {
		await tab(page, "compare")
		await page.click("#mode-single")
		return equals(page)
	})
	await check("state: a moved camera needs no file", async () => {
		await moved(page)
		const remark = await equals(page)
		expect(remark.includes("--eye") && !remark.includes("--cameras"), remark)
		return remark
	})
	await check("state: a size and a profile", async () => {
		await size(page, 331, 457)
		await select(page, "a-profile", "gsplat-aa")
		return equals(page)
	})
	await check("state: the other scene, by a name that shells would run", async () => {
		await select(page, "a-scene", "1")
		expect((await text(page, "scene")) === SECOND, `the heading is ${await text(page, "scene")}`)
		expect((await page.title()).startsWith(SECOND), `the title is ${await page.title()}`)
		const {name} = await downloaded(page, "save")
		expect(name.startsWith("it") && name.includes("gsplat-aa"), `the file is ${name}`)
		await equals(page)
		await key(page, "h")
		await settled(page)
		return equals(page)
	})
	await check("state: the other scene's map, and its counts", async () => {
		await size(page, 200, 120)
		await tab(page, "map")
		await page.click("#map-show")
		await page.waitForFunction(() => document.getElementById("map-cancel").textContent === "Hide map", null, {timeout: 120000})
		const cycles = await text(page, "map-text")
		const command = await copied(page, folder, "sim")
		const run = JSON.parse(sh(`${command.replace(" --maps=maps", "")} --json`))
		const [{methods}] = run.views
		const found = Object.values(methods ?? {})[0]?.cycles ?? run.views[0].runs?.[0]?.cycles
		expect(cycles === `${found} cycles`, `${cycles}, and the command counts ${found}`)
		return equals(page, "sim")
	})
	await check("state: a map of another kind and variant", async () => {
		for (const [id, option] of [
			["map-variant", "het"],
			["map-kind", "termination_cycle"]
		]) {
			await page.selectOption(`#${id}`, option)
			await page.waitForFunction(() => document.getElementById("map-cancel").textContent === "Hide map", null, {timeout: 120000})
			await page.waitForTimeout(500)
		}
		expect((await text(page, "legend-title")).startsWith("het: termination"), await text(page, "legend-title"))
		const remark = await equals(page, "sim")
		await page.click("#map-cancel")
		return remark
	})
	await check("state: a layer", async () => {
		const all = []
		for (const layer of ["depth", "normal", "count"]) {
			await select(page, "a-layer", layer)
			all.push(await equals(page))
		}
		await select(page, "a-layer", "")
		return all[0]
	})
	for (const renderer of ["reference", "emulated:het+qm"]) {
		await check(`state: the renderer ${renderer}`, async () => {
			await select(page, "a-renderer", renderer)
			const remark = await equals(page)
			await select(page, "a-renderer", "cpu")
			return remark
		})
	}
	await check("state: B while a blink shows it", async () => {
		await select(page, "a-scene", "0")
		await select(page, "b-scene", "1")
		await select(page, "b-profile", "mip-splatting")
		await page.click("#mode-blink")
		await page.locator("#blink").focus()
		await page.keyboard.press("Enter")
		const remark = await equals(page)
		expect(remark.includes("mip-splatting"), remark)
		await page.locator("#blink").focus()
		await page.keyboard.press("Enter")
		return remark
	})
	await check("state: A beside the photo of its view", async () => {
		await key(page, "h")
		await select(page, "a-profile", "")
		await select(page, "b-scene", "photo")
		await page.click("#mode-split")
		return equals(page)
	})

	// ---- Photos ----

	await check("a photo in a window is cropped as its camera", async () => {
		const measure = async () => {
			await exact(page)
			await tab(page, "compare")
			await page.click("#measure")
			await page.waitForSelector("#metrics dd")
			return parseFloat((await page.locator("#metrics dd").allTextContents())[0])
		}
		const view = await text(page, "view-list")
		const json = sh(`quadrille compare ${quoted(SCENE)} photos --view ${quoted(view)} --photo-size --json`)
		const expected = parseFloat(/"psnr(?:_db)?": *([\d.]+)/.exec(json)[1])
		const found = []
		for (const [width, height] of [
			[0, 0],
			[640, 360],
			[1000, 360]
		]) {
			await size(page, width, height)
			found.push(await measure())
		}
		expect(Math.abs(found[1] - expected) < 0.01, `at its size ${found[1]} dB, compare finds ${expected}`)
		for (const psnr of found) expect(Math.abs(psnr - expected) < 3, `${found} dB, compare finds ${expected}`)
		return `${found.join(", ")} dB; compare ${expected.toFixed(2)} dB`
	})
	await check("a photo of other proportions is refused with the reason", async () => {
		const view = await text(page, "view-list")
		sh(`quadrille render ${quoted(SCENE)} --view ${quoted(view)} --width 300 --height 360 -o ${quoted(`photos/${view}.png`)}`)
		await size(page, 320, 180)
		await page.waitForSelector(".note.fault")
		const note = await page.locator(".note.fault span").first().textContent()
		expect(note.includes("the proportions of") && note.includes("300 x 360"), note)
		await select(page, "b-scene", "")
		await page.click(".note.fault button")
		return note.slice(-90)
	})
	await check("metrics are not of the colours of layers", async () => {
		await select(page, "b-scene", "0")
		await select(page, "b-layer", "depth")
		expect(await page.locator("#measure").isDisabled(), "Measure is enabled")
		expect((await text(page, "legend-title")) === "B: depth", `the legend is ${await text(page, "legend-title")}`)
		await select(page, "b-scene", "")
	})

	// ---- Clicks and keys ----

	await check("a click leaves the panel and the picture as they are", async () => {
		await size(page)
		await page.click("#fold")
		await exact(page)
		const before = await page.locator("#canvas").boundingBox()
		await page.mouse.click(before.x + 500, before.y + 400)
		await page.waitForSelector("#card", {state: "visible"})
		expect((await page.getAttribute("#fold", "aria-expanded")) === "false", "the panel is open")
		const after = await page.locator("#canvas").boundingBox()
		expect(JSON.stringify(after) === JSON.stringify(before), `the picture is at ${JSON.stringify(after)}`)
		const card = await page.locator("#card-values").textContent()
		expect(card.includes("500, 400"), card)
		await key(page, "ArrowLeft")
		await exact(page)
		expect(!(await page.locator("#card").isVisible()), "a move leaves the card")
		await page.click("#fold")
		await tab(page, "compare")
		await exact(page)
		await page.mouse.click(before.x + 400, before.y + 400)
		await page.waitForSelector("#card", {state: "visible"})
		expect(await page.locator("#panel-compare").isVisible(), "the tab has changed")
		await page.click("#card-open")
		await page.waitForSelector("#splats tr")
		return card
	})
	await check("the wheel ends at a distance, without a fault", async () => {
		await tab(page, "view")
		await page.mouse.move(500, 400)
		for (let i = 0; i < 150; i++) await page.mouse.wheel(0, 120)
		await page.waitForTimeout(300)
		await exact(page)
		const far = await distance(page)
		expect((await page.locator(".note.fault").count()) === 0, await page.locator("#notes").textContent())
		await page.mouse.wheel(0, -400)
		await exact(page)
		expect((await distance(page)) < far, "there is no way back")
		await key(page, "h")
		await settled(page)
		return `${far.toPrecision(3)} units`
	})
	await check("a page that is loaded again shows what it showed", async () => {
		await select(page, "a-profile", "gsplat")
		await size(page, 400, 300)
		await moved(page)
		const before = await canvas(page)
		await page.reload()
		await exact(page)
		expect((await value(page, "a-profile")) === "gsplat", "the profile is another")
		expect(differing(await canvas(page), before) === 0, "the picture differs")
	})
	await check("state: a background", async () => {
		await select(page, "a-profile", "")
		await page.fill("#background", "#3380cc")
		const remark = await equals(page)
		expect(remark.includes("--background=0.2,0.5019608,0.8"), remark)
		await page.click("#background-reset")
		await exact(page)
		return remark
	})
	await check("state: another field of view by the slider", async () => {
		await page.fill("#zoom", "75.5")
		await exact(page)
		expect((await value(page, "fov")) === "75.5", `the field of view is ${await value(page, "fov")}`)
		return equals(page)
	})
	await check("state: filters by their controls, of splats of both sides", async () => {
		await key(page, "h")
		await settled(page)
		const before = await canvas(page)
		const remarks = []
		for (const [id, entry, flag] of [
			["filter-opacity", "0.4", "--where=opacity >= 0.4"],
			["filter-size", "-3", "--where=scale_max <= "],
			["filter-scale", "-1", "--splat-scale=0.5"],
			["filter-condition", "y < 0.5 || y > 0.6", "--where=y < 0.5"]
		]) {
			await page.fill(`#${id}`, entry)
			await page.locator(`#${id}`).blur()
			await exact(page)
			remarks.push(flag)
		}
		await page.selectOption("#filter-degree", "0")
		await page.check("#filter-box")
		await exact(page)
		const least = Number(await value(page, "filter-box-0"))
		await page.fill("#filter-box-0", String(least + Number(await page.getAttribute("#filter-box-0", "max")) / 9))
		await exact(page)
		await page.check("#filter-sphere")
		await exact(page)
		expect((await page.getAttribute("#lines-crop", "d")).length > 500, "no outlines of the crops")
		await exact(page)
		const found = await saved(page, "save")
		const command = await copied(page, folder)
		for (const flag of [...remarks, "--sh=0", "--keep-box=", "--keep-sphere="]) expect(command.includes(flag), `${flag} is not in ${command}`)
		await equals(page)
		expect((await downloaded(page, "save")).name.includes("filtered"), "the name of the file says nothing")
		expect(found.length > 1000, "an empty picture")
		await page.click("#filter-reset")
		await exact(page)
		expect(differing(await canvas(page), before) === 0, "the filters stay")
		expect(!(await page.getAttribute("#lines-crop", "d")), "the outlines stay")
		return command.slice(20, 160)
	})
	await check("a condition without a column is refused, and the page lives", async () => {
		await page.fill("#filter-condition", "nothing > 1")
		await page.locator("#filter-condition").blur()
		await page.waitForSelector(".note.fault")
		const note = await page.locator(".note.fault span").first().textContent()
		expect(note.includes("nothing"), note)
		await page.click("#filter-reset")
		await exact(page)
		for (const button of await page.locator(".note.fault button").all()) await button.click()
		return note.slice(0, 100)
	})
	await check("state: a film of the path, byte by byte that of the copied command", async () => {
		await size(page, 160, 96)
		await tab(page, "path")
		await page.selectOption("#path-fps", "24")
		await page.click("#key-add")
		await key(page, "ArrowLeft", "ArrowUp", "ArrowLeft")
		await exact(page)
		await page.click("#key-add")
		await page.fill("#keys li:nth-child(2) input", "0.25")
		await page.locator("#keys li:nth-child(2) input").blur()
		await page.fill("#path-time", "3")
		await exact(page)
		expect((await text(page, "path-now")) === "0.125 s", `the time is ${await text(page, "path-now")}`)
		const scrubbed = await vector(page, "eye")
		await page.fill("#path-time", "0")
		await exact(page)
		expect((await vector(page, "eye")).some((v, i) => Math.abs(v - scrubbed[i]) > 1e-6), "the time line moves nothing")
		const path = await downloaded(page, "path-save")
		writeFileSync(join(folder, path.name), path.bytes)
		const film = await downloaded(page, "film-save")
		const command = await value(page, "film-command")
		expect(command.includes(path.name) && command.includes(film.name), `${command} has other names than ${path.name}, ${film.name}`)
		rmSync(join(folder, film.name), {force: true})
		sh(command)
		expect(film.bytes.equals(readFileSync(join(folder, film.name))), `the film is not that of ${command}`)
		return `${film.name}, ${film.bytes.length} bytes`
	})
	await check("a film that is cancelled leaves the page as it was", async () => {
		await size(page, 640, 400)
		await tab(page, "path")
		await page.fill("#keys li:nth-child(2) input", "60")
		await page.locator("#keys li:nth-child(2) input").blur()
		await page.click("#film-save")
		await page.waitForFunction(() => document.getElementById("film-progress").value > 0)
		await page.click("#film-cancel")
		await page.waitForSelector("#film-progress", {state: "hidden"})
		expect((await page.locator(".note.fault").count()) === 0, await page.locator("#notes").textContent())
		await size(page)
		await key(page, "h")
		await settled(page)
	})
	await check("the distance of two surfaces is measured", async () => {
		await key(page, "h")
		await settled(page)
		await page.click("#ruler")
		const box = await page.locator("#canvas").boundingBox()
		const points = []
		await page.waitForFunction(() => document.getElementById("ruler-text").textContent === "Click a surface.")
		for (const share of [0.4, 0.6]) {
			const answered = page.waitForFunction(text => document.getElementById("ruler-text").textContent !== text, await text(page, "ruler-text"))
			await page.mouse.click(box.x + share * box.width, box.y + 0.7 * box.height)
			await answered
			points.push(await text(page, "ruler-text"))
		}
		expect(points[0] === "Click another surface." && parseFloat(points[1]) > 0, points.join(" "))
		expect((await page.getAttribute("#ruler-line", "points")).split(" ").length === 12, "no line")
		await page.click("#ruler")
		await page.waitForTimeout(50)
		expect((await page.getAttribute("#ruler-line", "points")) === "", "the line stays")
		return points[1]
	})
	await check("cameras, axes and a grid lie over the picture, and a camera is clicked", async () => {
		for (const name of ["cameras", "axes", "grid"]) await page.check(`#overlay-${name}`)
		await page.waitForTimeout(100)
		for (const kind of ["x", "y", "z", "grid"]) expect(await page.getAttribute(`#lines-${kind}`, "d"), `no lines of ${kind}`)
		// From outside, the cameras of the list are in view.
		const middle = await page.locator("#canvas").boundingBox()
		await page.mouse.move(middle.x + middle.width / 2, middle.y + middle.height / 2)
		for (let i = 0; i < 8; i++) await page.mouse.wheel(0, 300)
		await exact(page)
		const path = await page.getAttribute("#lines-cameras", "d")
		const [x, y] = /^M(\S+) (\S+)L/.exec(path).slice(1).map(Number)
		const box = await page.locator("#canvas").boundingBox()
		const width = await page.evaluate(() => document.getElementById("canvas").width)
		await page.mouse.click(box.x + (x * box.width) / width, box.y + (y * box.width) / width)
		await settled(page)
		expect(await page.evaluate(() => document.getElementById("card").hidden), "a card is open")
		for (const name of ["cameras", "axes", "grid"]) await page.uncheck(`#overlay-${name}`)
		await page.waitForTimeout(50)
		expect(!(await page.getAttribute("#lines-cameras", "d")), "the cameras stay")
		return text(page, "view-list")
	})
	await check("the splats of a pixel are outlined, and their ellipses hold the pixel", async () => {
		await tab(page, "pixel")
		await page.check("#pixel-rings")
		const box = await page.locator("#canvas").boundingBox()
		await page.mouse.click(box.x + 0.5 * box.width, box.y + 0.7 * box.height)
		await page.waitForFunction(() => document.getElementById("lines-splats").getAttribute("d"))
		const [w, h] = await page.evaluate(() => [document.getElementById("canvas").width, document.getElementById("canvas").height])
		const paths = (await page.getAttribute("#lines-splats", "d")).split("Z").filter(Boolean)
		const rows = await page.locator("#splats tr").count()
		expect(paths.length === rows, `${paths.length} outlines of ${rows} splats`)
		for (const path of paths) {
			const points = path.slice(1).split("L").map(point => point.split(" ").map(Number))
			// The pixel is within the bounds of each ellipse; chords cut off less than a pixel and a part of a large one.
			for (const [axis, at] of [[0, 0.5 * w], [1, 0.7 * h]]) {
				const [least, most] = [Math.min(...points.map(p => p[axis])), Math.max(...points.map(p => p[axis]))]
				const slack = 1 + 0.01 * (most - least)
				expect(at >= least - slack && at <= most + slack, `${at} is not in ${least} to ${most}`)
			}
		}
		await page.uncheck("#pixel-rings")
		return `${rows} splats`
	})
	await check("outlines of the splats that are seen lie over the exact picture, until the camera moves", async () => {
		await tab(page, "view")
		await page.check("#overlay-splats")
		await page.waitForFunction(() => document.getElementById("lines-seen").getAttribute("d"))
		const outlines = (await page.getAttribute("#lines-seen", "d")).split("Z").length - 1
		const note = await text(page, "seen-note")
		const [drawn, all] = note.match(/\d+/g).map(Number)
		expect(outlines === drawn && drawn > 100 && drawn <= all, `${outlines} outlines, ${note}`)
		await page.locator("#stage").focus()
		await page.keyboard.down("ArrowLeft")
		await page.waitForFunction(() => !document.getElementById("lines-seen").getAttribute("d"))
		await page.keyboard.up("ArrowLeft")
		await exact(page)
		await page.waitForFunction(() => document.getElementById("lines-seen").getAttribute("d"))
		await equals(page)
		await page.uncheck("#overlay-splats")
		await page.waitForFunction(() => !document.getElementById("lines-seen").getAttribute("d"))
		await key(page, "h")
		await settled(page)
		return note
	})
	await check("letters move the camera after a choice by the pointer and on a check box", async () => {
		await tab(page, "view")
		await page.focus("#overlay-axes")
		const before = await value(page, "eye")
		await page.keyboard.press("w", {delay: 200})
		await exact(page)
		expect((await value(page, "eye")) !== before, "W moves nothing on a check box")
		await page.click("#mode-orbit")
		await key(page, "h")
		await settled(page)
	})
	await check("times and memory are listed", async () => {
		const names = await page.locator("#details dt").allTextContents()
		for (const name of ["Preprocess", "Raster", "Renderer", "Whole server"]) expect(names.includes(name), `${name} is not among ${names}`)
		return page.locator("#details").textContent()
	})
	await check("an address of another scene is left out with a note", async () => {
		const link = await page.evaluate(() => {
			const show = {a: {scene: 0, profile: "no such", renderer: "cpu", layer: null}, b: null, mode: "single", split: 0.5, gain: 4}
			return `${location.origin}/#${new URLSearchParams({t: sessionStorage.getItem("quadrille.token"), view: JSON.stringify({cam: {view: 0}, show})})}`
		})
		const other = await openPage(browser, link)
		await other.goto(link)
		await exact(other)
		const note = await other.locator(".note.fault span").textContent()
		expect(note.includes("does not fit this scene"), note)
		await other.context().close()
	})
})

// ---- Names of views ----

const names = ["1", "10", "2", "all", "-x", "a$(touch pwned)'b", "two words", "0..2", "train", "a,b", "000001"]
write("named.json", names.map((name, at) => ({...cameras[at % cameras.length], id: at, img_name: name})))
await shown([SCENE, "--cameras", "named.json"], async page => {
	await size(page, 160, 90)
	for (const name of names) {
		await check(`state: the view named ${name}`, async () => {
			await page.click("#view-list")
			await page.fill("#view-search", name)
			await page.locator("#view-items button", {hasText: new RegExp(`^\\d+\\s+${name.replace(/[$().]/g, "\\$&")}$`)}).click()
			await settled(page)
			return equals(page)
		})
	}
})
await shown([SCENE, "--cameras", "named.json", "--view", "1..4"], async page => {
	await check("state: a view named by a number, of a part of the file", async () => {
		await size(page, 160, 90)
		await key(page, "PageDown")
		await settled(page)
		const remark = await equals(page)
		expect(remark.includes("--view=2"), remark)
		return remark
	})
})

// ---- Meshes among splats ----

await shown([SCENE, "--mesh", "frog", "--mesh-move", "scale 0.7 rotate 180,0,0 translate 0.5,-1,0", "--light", "sky"], async page => {
	await size(page, 320, 180)
	await check("state: splats and a mesh, listed and moved", async () => {
		await equals(page)
		await moved(page)
		const remark = await equals(page)
		expect(remark.includes("--mesh=frog") || remark.length >= 120, remark)
		return remark
	})
	for (const [id, option] of [
		["a-layer", "depth"],
		["a-renderer", "reference"],
		["a-renderer", "emulated:qm"]
	]) {
		await check(`state: splats and a mesh, ${option}`, async () => {
			await select(page, id, option)
			const remark = await equals(page)
			await select(page, id, id === "a-layer" ? "" : "cpu")
			return remark
		})
	}
	await check("a click on a mesh among splats centres there, without a message", async () => {
		const box = await page.locator("#canvas").boundingBox()
		const before = await value(page, "target")
		await page.mouse.dblclick(box.x + 0.5 * box.width, box.y + 0.5 * box.height)
		await settled(page)
		expect((await value(page, "target")) !== before, "the target stays")
		expect((await page.locator(".note.fault").count()) === 0, await page.locator("#notes").textContent())
	})
})

// ---- Other scenes ----

sh(`mkdir other && quadrille convert ${quoted(SCENE)} -o other/first.ply --where 'opacity > 0.5' && quadrille convert other/first.ply -o other/next.spz`)
sh("printf 'ply\\nformat' > other/broken.ply")
await shown([join("other", "first.ply")], async page => {
	const named = name => page.waitForFunction(name => document.getElementById("scene").textContent === name, name)
	const open = async name => {
		await page.click("#open-scene")
		await page.locator("#scene-items button", {hasText: name}).click()
	}
	await check("state: another scene of the folder, opened from the page", async () => {
		await page.click("#open-scene")
		await page.waitForSelector("#scene-items button")
		const list = await page.locator("#scene-items button").allTextContents()
		expect(list.join() === "broken.ply,first.ply,next.spz", list.join())
		await page.keyboard.press("Escape")
		await open("next.spz")
		await named("next.spz")
		await size(page, 320, 180)
		return equals(page)
	})
	await check("a scene that cannot be read leaves the one that is shown", async () => {
		await open("broken.ply")
		await page.waitForSelector(".note.fault")
		const note = await page.locator(".note.fault span").textContent()
		expect(note.includes("broken.ply"), note)
		expect((await text(page, "scene")) === "next.spz", await text(page, "scene"))
		return note.slice(0, 100)
	})
	await check("state: a file that is sent, and the command beside it", async () => {
		await page.click("#open-scene")
		await page.setInputFiles("#scene-file", join(folder, SECOND))
		await named(SECOND)
		await size(page, 320, 180)
		return equals(page)
	})
	await check("state: the first scene again", async () => {
		await open("first.ply")
		await named("first.ply")
		await size(page, 320, 180)
		return equals(page)
	})
})

// ---- Lenses ----

const [pose] = cameras
const transforms = {
	camera_model: "OPENCV_FISHEYE",
	w: 640,
	h: 360,
	fl_x: 300,
	fl_y: 300,
	cx: 320,
	cy: 180,
	k1: 0.05,
	k2: -0.01,
	frames: [
		{
			file_path: "bent.png",
			transform_matrix: [...pose.rotation.map(([x, y, z], row) => [x, -y, -z, pose.position[row]]), [0, 0, 0, 1]]
		}
	]
}
write("bent.json", transforms)
write("shifted.json", [{...pose, img_name: "shifted", cx: pose.width / 2 + 11, cy: pose.height / 2 - 7}])
for (const [lens, words, needsFile] of [
	["a fisheye of 140 degrees", ["--cameras", CAMERAS, "--camera-model", "fisheye", "--fov", "140"], false],
	["a fisheye of 180 degrees", ["--cameras", CAMERAS, "--camera-model", "fisheye"], false],
	["a panorama", ["--cameras", CAMERAS, "--camera-model", "equirectangular"], false],
	["parallel rays", ["--cameras", CAMERAS, "--camera-model", "orthographic"], false],
	["a distorted fisheye", ["--cameras", "bent.json"], true],
	["a shifted principal point", ["--cameras", "shifted.json"], true]
]) {
	await shown([SCENE, ...words], async page => {
		await check(`state: ${lens}, listed and moved`, async () => {
			await size(page, 320, 200)
			await equals(page)
			const before = await value(page, "eye")
			await moved(page)
			expect((await value(page, "eye")) !== before, "the camera does not move")
			expect((await page.locator(".note.fault").count()) === 0, await page.locator("#notes").textContent())
			const remark = await equals(page)
			expect(remark.includes(".view.json") === needsFile, remark)
			await page.click("#open-copy")
			await page.waitForFunction(() => document.getElementById("copy-note").textContent)
			const isOff = await page.locator("#save-cameras").isDisabled()
			expect(isOff === (lens === "parallel rays"), `the button to save the camera is ${isOff ? "off" : "on"}`)
			await page.click("#copy-dialog form button:last-child")
			return remark
		})
		await check(`a drag and a double click move ${lens}`, async () => {
			const box = await page.locator("#canvas").boundingBox()
			const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
			const before = await value(page, "eye")
			await page.mouse.move(x, y)
			await page.mouse.down()
			await page.mouse.move(x + 40, y + 10, {steps: 4})
			await page.mouse.up()
			await exact(page)
			expect((await value(page, "eye")) !== before, "the drag does nothing")
			await page.mouse.dblclick(x, y + 20)
			await settled(page)
			expect((await state(page)) === "EXACT", await state(page))
		})
	})
}

// ---- Rules and filters ----

const rules = ["--where", "opacity > 0.4", "--stop", "hw", "--near", "0.3", "--background", "0.9,0.5,0.1", "--order", "distance", "--profile", "gsplat"]
await shown([SCENE, ...rules], async page => {
	await check("state: filters, rules and a background", async () => {
		await size(page, 320, 180)
		await equals(page)
		await moved(page)
		await equals(page)
		await select(page, "a-renderer", "emulated:het+qm")
		await equals(page)
		await select(page, "a-renderer", "cpu")
		await select(page, "a-profile", "inria-aa")
		return equals(page)
	})
})
await shown([SCENE, "--orbit", "3"], async page => {
	await check("state: views without a camera file", async () => {
		await size(page, 320, 180)
		const home = await equals(page)
		await key(page, "PageDown")
		await settled(page)
		await equals(page)
		await moved(page)
		await equals(page)
		return home
	})
})

// ---- Meshes ----

await shown(["arcade", "--with", SECOND, "--width", "200", "--height", "120"], async page => {
	await check("state: a mesh, listed and moved", async () => {
		await tab(page, "compare")
		await page.click("#mode-single")
		await equals(page)
		await moved(page)
		return equals(page)
	})
	await check("a mesh has no red messages, and centres at its surface", async () => {
		const box = await page.locator("#canvas").boundingBox()
		const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
		await page.mouse.click(x, y)
		await page.waitForTimeout(500)
		const before = await value(page, "target")
		await page.mouse.dblclick(x, y)
		await page.waitForFunction(before => document.getElementById("target").value !== before, before)
		await settled(page)
		expect((await page.locator(".note.fault").count()) === 0, await page.locator("#notes").textContent())
		expect(!(await page.locator("#tab-map").isVisible()), "a mesh has maps")
		const about = await text(page, "about")
		expect(about.startsWith("a mesh and ") && !about.includes("null"), about)
		return about
	})
	await check("state: splats beside a mesh", async () => {
		await select(page, "a-scene", "1")
		expect(await page.locator("#tab-map").isVisible(), "splats have no maps")
		return equals(page)
	})
})

// ---- Large windows ----

for (const [what, options, limit, expected] of [
	["2560 x 1440", {viewport: {width: 2560, height: 1440}}, [], 1],
	["1440 x 900 at a ratio of 2", {viewport: {width: 1440, height: 900}, deviceScaleFactor: 2}, [], 1],
	["1280 x 720 at a ratio of 1.5", {viewport: {width: 1280, height: 720}, deviceScaleFactor: 1.5}, [], 1],
	["2560 x 1440 with a lower limit", {viewport: {width: 2560, height: 1440}}, ["--max-pixels", "2000000"], 0]
]) {
	await shown(
		[SCENE, ...limit],
		page =>
			check(`a window of ${what} is drawn by device pixels, or says that it is not`, async () => {
				const [width, wide] = await page.evaluate(() => {
					const {width} = document.getElementById("canvas")
					return [width, Math.round(document.getElementById("stage").getBoundingClientRect().width * devicePixelRatio)]
				})
				const note = await text(page, "badge-note")
				expect((width === wide) === Boolean(expected), `the picture has ${width} of ${wide} pixels`)
				expect(note.includes("--max-pixels") === !expected, `the badge says "${note}"`)
				await equals(page)
				return `${width} of ${wide} pixels ${note}`
			}),
		options
	)
}

await browser.close()
rmSync(folder, {recursive: true})
process.exit(finish() ? 0 : 1)
