// The page of `quadrille view` in a browser, against the program's own pictures:
//
//     npm ci && node browser.mjs QUADRILLE SCENE [SCREENSHOTS]
//
// QUADRILLE is a binary with the feature `view`, SCENE a scene with a camera file beside it. CHROMIUM names
// another browser than /usr/bin/chromium, PAGE a folder whose files replace those in the binary, and CHECKS a
// pattern of the checks to run. Ends with "N passed, N failed"; times are printed, not checked.

import {copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync} from "node:fs"
import {join, resolve} from "node:path"
import {chromium} from "playwright-core"
import {canvas, copied, distance, exact, openPage, reach, saved, size, state, tab, text, value, vector, workplace} from "./pages.mjs"
import {check, differing, expect, finish, looksWrong, readPng, serve, slowNetwork, stop} from "./support.mjs"

const [, , quadrille, scene, shots] = process.argv
if (!scene) {
	console.error("usage: node browser.mjs QUADRILLE SCENE [SCREENSHOTS]")
	process.exit(2)
}
const BINARY = resolve(quadrille)
const SCENE = resolve(scene)
const PAGE_BYTES = 116 << 10
const FILES = ["", "view.js", "camera.js", "controls.js", "filters.js", "overlay.js", "panels.js", "view.css", "icon.svg"]

const {folder, sh} = workplace(BINARY)

// Photos of the first two views, of another profile so that they differ from the picture.
const photos = join(folder, "photos")
mkdirSync(photos)
const views = JSON.parse(sh(`quadrille render '${SCENE}' --view all --profile gsplat-aa -o '${photos}/{view}.png' --json`)).views
for (const view of views.slice(2)) rmSync(view.output)

const token = join(folder, "token")
const words = [SCENE, "--photos", photos, "--token-file", token]
let server = await serve(BINARY, [...words, "--port", "0"])
const {port} = server
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
	// A replaced page has no address, so that the browser would refuse it the socket of this machine.
	args: ["--no-sandbox", "--disable-gpu", ...(process.env.PAGE ? ["--disable-features=LocalNetworkAccessChecks"] : [])]
})

const faults = []
// A server that is down cannot be reached, or refuses: the browser reports that on the console.
let outage = false
async function whileDown(action) {
	outage = true
	try {
		return await action()
	} finally {
		outage = false
	}
}
async function open(options = {}, address = server.url) {
	const page = await openPage(browser, address, options)
	page.on("console", message => outage || faults.push(`console: ${message.text()}`))
	page.on("pageerror", error => faults.push(`error: ${error.message}`))
	page.on("request", request => {
		const {host, protocol} = new URL(request.url())
		if (protocol !== "blob:" && host !== new URL(address).host) faults.push(`request: ${request.url()}`)
		if (request.url().includes(readFileSync(token, "utf8").trim())) faults.push("the token is in a URL")
	})
	await page.goto(address)
	return page
}
// Does what probes another pixel than the last, and waits for the answer: the last one's stays on the page until then.
async function probed(page, act) {
	const [last] = await page.locator("#pixel-values dd").allTextContents()
	await act()
	const answered = await page.waitForFunction(last => {
		const pixel = document.querySelector("#pixel-values dd")?.textContent
		return pixel !== last && pixel
	}, last)
	return (await answered.jsonValue()).split(",").map(Number)
}
const near = (a, b, tolerance) => Math.abs(a - b) <= tolerance
async function rendered(page) {
	sh(await copied(page, folder))
	return readFileSync(join(folder, "picture.png"))
}
async function equalsRender(page) {
	const [found, wanted] = [await canvas(page), readPng(await rendered(page))]
	const count = differing(found, wanted)
	expect(count === 0, `${count} of ${wanted.width * wanted.height} pixels differ from render`)
	return `${wanted.width} x ${wanted.height}`
}
async function drag(page, dx, dy, options = {}) {
	const box = await page.locator("#canvas").boundingBox()
	const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
	await page.mouse.move(x, y)
	await page.mouse.down(options)
	for (let i = 1; i <= 8; i++) await page.mouse.move(x + (dx * i) / 8, y + (dy * i) / 8)
	const during = await state(page)
	const badge = await text(page, "badge")
	await page.mouse.up(options)
	return {during, badge}
}
const page = await open()
await check("the first picture is exact, and the token leaves the address", async () => {
	await exact(page)
	expect(!page.url().includes("t="), `the address is ${page.url()}`)
	return text(page, "stat-latency")
})

await check("the page has at most 116 KiB", async () => {
	const sizes = await Promise.all(FILES.map(async file => (await (await fetch(`http://localhost:${port}/${file}`)).text()).length))
	const sum = sizes.reduce((a, b) => a + b)
	expect(sum <= PAGE_BYTES, `expected at most ${PAGE_BYTES} bytes, found ${sum}`)
	return `${sum} bytes`
})

// ---- Stills ----

for (const profile of ["", "gsplat"]) {
	for (const [width, height] of [
		[0, 0],
		[500, 300],
		[331, 457]
	]) {
		for (const move of ["listed", "next", "moved"]) {
			const name = `${profile || "own profile"}, ${width ? `${width} x ${height}` : "window"}, ${move} view`
			await check(`still equals render: ${name}`, async () => {
				await tab(page, "view")
				await page.selectOption("#a-profile", profile)
				await size(page, width, height)
				await page.locator("#stage").focus()
				if (move === "listed") await page.click("#home")
				if (move === "next") await page.keyboard.press("PageDown")
				if (move === "moved") for (const key of ["ArrowLeft", "ArrowUp", "Shift+ArrowLeft"]) await page.keyboard.press(key)
				await page.waitForTimeout(400)
				await exact(page)
				return equalsRender(page)
			})
		}
	}
}
await tab(page, "view")
await page.selectOption("#a-profile", "")
await size(page)

await check("still equals render: an edited camera without a lens", async () => {
	await page.fill("#fov", "61.5")
	await page.press("#fov", "Enter")
	await exact(page)
	return equalsRender(page)
})

await check("a field refuses what is no camera", async () => {
	const before = await value(page, "up")
	await page.fill("#up", "0, 0, nothing")
	await page.press("#up", "Enter")
	expect((await page.getAttribute("#up", "aria-invalid")) === "true", "the field is not marked")
	await page.fill("#up", before)
	await page.press("#up", "Enter")
	await exact(page)
})

// ---- Movement ----

await check("a drag orbits, keeps the distance, and ends exact", async () => {
	const [eye, length] = [await vector(page, "eye"), await distance(page)]
	const {during, badge} = await drag(page, 120, 40)
	expect(during !== "EXACT" && badge !== "EXACT", `while dragging the state is ${during}, the badge ${badge}`)
	await exact(page)
	expect((await text(page, "badge")) === "EXACT", "the badge is not EXACT")
	const after = await vector(page, "eye")
	expect(
		after.some((v, i) => Math.abs(v - eye[i]) > 1e-3),
		"the eye did not move"
	)
	expect(near(await distance(page), length, 2e-4 * length), "the distance changed")
})

await check("a drag with the right button pans", async () => {
	const before = await vector(page, "target")
	await drag(page, 60, 0, {button: "right"})
	await exact(page)
	expect(
		(await vector(page, "target")).some((v, i) => Math.abs(v - before[i]) > 1e-3),
		"the target did not move"
	)
})

await check("the wheel dollies to the cursor", async () => {
	const length = await distance(page)
	await page.mouse.wheel(0, -200)
	await exact(page)
	expect((await distance(page)) < 0.95 * length, `the distance is ${await distance(page)}, was ${length}`)
})

await check("keys orbit, roll, level and return home", async () => {
	await page.locator("#stage").focus()
	const before = await value(page, "eye")
	await page.keyboard.press("ArrowRight")
	await page.keyboard.press("Period")
	await exact(page)
	expect((await value(page, "eye")) !== before, "the arrow did nothing")
	await page.keyboard.press("u")
	await page.keyboard.press("h")
	await page.waitForTimeout(400)
	await exact(page)
	return equalsRender(page)
})

await check("W flies, and the frames while flying arrive in order", async () => {
	const before = await vector(page, "eye")
	await page.keyboard.down("w")
	await page.waitForTimeout(600)
	const rate = await text(page, "stat-fps")
	const during = await text(page, "badge-note")
	await page.keyboard.up("w")
	await exact(page)
	expect((await page.getAttribute("#mode-fly", "aria-pressed")) === "true", "the mode is not Fly")
	expect(
		(await vector(page, "eye")).some((v, i) => Math.abs(v - before[i]) > 1e-2),
		"the eye did not move"
	)
	await page.click("#mode-orbit")
	return `${rate}, ${during}`
})

await check("keys in text fields move nothing", async () => {
	const before = await value(page, "eye")
	await page.locator("#target").focus()
	await page.keyboard.press("w")
	await page.keyboard.press("h")
	await page.waitForTimeout(300)
	expect((await value(page, "eye")) === before, "the camera moved")
	await page.locator("#stage").focus()
	await page.keyboard.press("h")
	await page.waitForTimeout(400)
	await exact(page)
})

await check("a double click centres on the surface", async () => {
	const box = await page.locator("#canvas").boundingBox()
	const before = await value(page, "target")
	await page.mouse.dblclick(box.x + 0.6 * box.width, box.y + 0.6 * box.height)
	await page.waitForFunction(before => document.getElementById("target").value !== before, before)
	await page.waitForTimeout(700)
	await exact(page)
	await tab(page, "view")
})

await check("the list of views is searched", async () => {
	const name = views.at(-1).name
	await page.click("#view-list")
	await page.fill("#view-search", name)
	await page.click("#view-items button")
	await page.waitForTimeout(400)
	await exact(page)
	expect((await text(page, "view-list")) === name, `the view is ${await text(page, "view-list")}`)
	return name
})

await check("layers have legends", async () => {
	await tab(page, "view")
	for (const layer of ["depth", "normal", "alpha", "count"]) {
		await page.selectOption("#a-layer", layer)
		await exact(page)
		await page.waitForTimeout(50)
		const shown = await page.locator("#legend").isVisible()
		expect(shown || layer === "normal", `${layer} has no legend`)
	}
	await page.selectOption("#a-layer", "")
	await exact(page)
	await page.waitForTimeout(50)
	expect(!(await page.locator("#legend").isVisible()), "colours have a legend")
})

// ---- Saving and copying ----

await check("the saved PNG is byte for byte that of render", async () => {
	await page.keyboard.press("h")
	await page.waitForTimeout(400)
	await exact(page)
	const found = await saved(page, "save")
	const wanted = await rendered(page)
	expect(found.equals(wanted), `${found.length} bytes differ from ${wanted.length}`)
	return `${found.length} bytes`
})

await check("the copied link shows the same picture elsewhere", async () => {
	for (const key of ["ArrowLeft", "ArrowLeft"]) {
		await page.locator("#stage").focus()
		await page.keyboard.press(key)
	}
	await exact(page)
	await page.click("#open-copy")
	await page.click("#do-copy-link")
	const link = await page.evaluate(() => navigator.clipboard.readText())
	await page.click("#copy-dialog form button:last-child")
	const other = await open({}, link)
	await exact(other)
	const count = differing(await canvas(other), await canvas(page))
	expect(count === 0, `${count} pixels differ`)
	expect(!other.url().includes("#"), "the token stays in the address")
	await other.context().close()
})

// ---- Probe ----

await check("a click probes the pixel", async () => {
	await tab(page, "pixel")
	const box = await page.locator("#canvas").boundingBox()
	const [x, y] = await probed(page, () => page.mouse.click(box.x + 300, box.y + 320))
	const values = await page.locator("#pixel-values dd").allTextContents()
	expect(near(x, 300, 1) && near(y, 320, 1), `the pixel is ${x}, ${y}`)
	const picture = await canvas(page)
	const shown = [...picture.rgb.subarray(3 * (y * picture.width + x)).subarray(0, 3)]
	const colour = values[1].split("(")[0].split(",").map(Number)
	expect(
		shown.every((c, i) => near(c, colour[i], 1)),
		`the pixel is ${shown}, the probe says ${colour}`
	)
	const rows = await page.locator("#splats tr").count()
	return `${rows} splats, colour ${colour}`
})

await check("arrows move the probe", async () => {
	await page.locator("#stage").focus()
	const from = await probed(page, () => page.keyboard.press("p"))
	const [x, y] = await probed(page, () => page.keyboard.press("ArrowRight"))
	expect(x - from[0] === 1 && y === from[1], `from ${from} to ${x}, ${y}`)
	const below = await probed(page, () => page.keyboard.press("Shift+ArrowDown"))
	expect(below[0] === x && below[1] - y === 10, `from ${x}, ${y} to ${below}`)
	await page.keyboard.press("p")
})

// ---- Comparison ----

await check("a split shows A left and B right of the line, which moves without the server", async () => {
	await page.keyboard.press("h")
	await page.waitForTimeout(400)
	await exact(page)
	const a = readPng(await saved(page, "save"))
	await tab(page, "compare")
	await page.selectOption("#b-scene", "0")
	await page.selectOption("#b-profile", "gsplat-aa")
	await exact(page)
	const b = readPng(await saved(page, "save-b"))
	expect(differing(a, b) > 1000, "the profiles do not differ")
	for (const presses of [0, 10]) {
		for (let i = 0; i < presses; i++) await page.keyboard.press("]")
		await page.waitForTimeout(50)
		const found = await canvas(page)
		const line = Math.round((0.5 + 0.02 * presses) * found.width)
		const counts = [differing(found, a, 0, line), differing(found, b, line)]
		expect(counts[0] + counts[1] === 0, `line at ${line}: ${counts} pixels differ`)
		expect((await state(page)) === "EXACT", "the line asked the server")
	}
	const box = await page.locator("#line").boundingBox()
	await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
	await page.mouse.down()
	await page.mouse.move(box.x - 200, box.y + box.height / 2)
	await page.mouse.up()
	const found = await canvas(page)
	const line = Math.round((Number(await page.locator("#line").getAttribute("aria-valuenow")) / 100) * found.width)
	const counts = [differing(found, a, 0, line - 10), differing(found, b, line + 10)]
	expect(counts[0] + counts[1] === 0, `dragged line: ${counts} pixels differ`)

	await page.locator("#stage").focus()
	await page.keyboard.down("b")
	await exact(page)
	expect(differing(await canvas(page), b) === 0, "holding B does not show B")
	await page.keyboard.up("b")
	await page.waitForTimeout(50)
	expect(differing(await canvas(page), a) === 0, "releasing it does not show A")
	await page.locator("#blink").focus()
	await page.keyboard.press("Enter")
	await page.waitForTimeout(50)
	expect(differing(await canvas(page), b) === 0, "the button does not show B")
	await page.keyboard.press("Enter")
})

await check("the difference is that of the pictures, and the metrics fit", async () => {
	await page.click("#mode-single")
	await exact(page)
	const a = readPng(await saved(page, "save"))
	await page.click("#mode-difference")
	await exact(page)
	const b = readPng(await saved(page, "save-b"))
	const found = await canvas(page)
	const gain = 4
	let [squares, worst] = [0, 0]
	for (let i = 0; i < found.rgb.length; i++) {
		const difference = Math.abs(a.rgb[i] - b.rgb[i])
		squares += difference ** 2
		worst = Math.max(worst, Math.abs(Math.min(255, gain * difference) - found.rgb[i]))
	}
	// Both pictures are rounded to 8 bits here, which the server's difference is not.
	expect(worst <= gain + 1, `a value is ${worst} away`)
	await page.click("#measure")
	await page.waitForSelector("#metrics dd")
	const metrics = await page.locator("#metrics dd").allTextContents()
	const psnr = 10 * Math.log10(255 ** 2 / (squares / found.rgb.length))
	expect(near(parseFloat(metrics[0]), psnr, 0.1), `PSNR is ${psnr.toFixed(2)} dB, found ${metrics[0]}`)
	return metrics.join(", ")
})

await check("a photo is compared at its view, and left out beside it", async () => {
	await page.selectOption("#b-scene", "photo")
	await page.click("#mode-split")
	await page.keyboard.press("h")
	await tab(page, "view")
	await page.selectOption("#size", "camera")
	await page.waitForTimeout(400)
	await exact(page)
	const photo = readPng(join(photos, `${views[0].name}.png`))
	const found = await canvas(page)
	const line = Math.round((Number(await page.locator("#line").getAttribute("aria-valuenow")) / 100) * found.width) + 10
	const count = differing(found, photo, line)
	expect(count === 0, `${count} pixels differ from the photo`)
	await page.locator("#stage").focus()
	await page.keyboard.press("ArrowLeft")
	await exact(page)
	expect(!(await page.locator("#line").isVisible()), "the line stays beside the view")
	await tab(page, "compare")
	expect(await page.locator("#photo-note").isVisible(), "nothing says why")
	await page.selectOption("#b-scene", "")
	await tab(page, "view")
	await page.selectOption("#size", "window")
	await exact(page)
})

// ---- Slow pictures ----

await check("the reference renderer's still is exact", async () => {
	await size(page, 320, 180)
	await page.selectOption("#a-renderer", "reference")
	await exact(page)
	const found = await canvas(page)
	await page.selectOption("#a-renderer", "cpu")
	await exact(page)
	const count = differing(found, await canvas(page))
	return `${count} of ${320 * 180} pixels differ from the fast renderer`
})

await check("a map arrives with a legend and the same counts as the probe", async () => {
	await tab(page, "map")
	await page.click("#map-show")
	await page.waitForFunction(() => document.getElementById("map-cancel").textContent === "Hide map", null, {timeout: 120000})
	await page.waitForTimeout(50)
	expect(await page.locator("#legend").isVisible(), "there is no legend")
	expect((await text(page, "badge")) === "MAP", `the badge over a map is ${await text(page, "badge")}`)
	// All kinds of a run are there, so that another one comes at once.
	const [before, title] = [await canvas(page), await text(page, "legend-title")]
	await page.selectOption("#map-kind", "blended")
	await page.waitForFunction(title => document.getElementById("legend-title").textContent !== title, title)
	await page.waitForTimeout(200)
	expect(differing(await canvas(page), before) > 0, "another kind shows the same map")
	return text(page, "map-text")
})

await check("a move ends an unpinned map", async () => {
	await page.locator("#stage").focus()
	await page.keyboard.press("ArrowRight")
	await exact(page)
	expect((await page.getAttribute("#toggle-map", "aria-pressed")) === "false", "the map stays")
	await page.click("#map-show")
	await page.waitForTimeout(100)
	const start = performance.now()
	await page.locator("#stage").focus()
	await page.keyboard.press("ArrowRight")
	await exact(page)
	expect((await page.getAttribute("#toggle-map", "aria-pressed")) === "false", "the running map stays")
	return `exact again after ${Math.round(performance.now() - start)} ms`
})

await check("Cancel ends a running map", async () => {
	await page.keyboard.press("ArrowRight")
	await exact(page)
	await page.click("#map-show")
	await page.waitForSelector("#map-progress", {state: "visible"})
	await page.click("#map-cancel")
	await page.waitForSelector("#map-progress", {state: "hidden"})
})

await check("a pinned map survives a move and is marked", async () => {
	await page.check("#map-pinned")
	await page.click("#map-show")
	await page.waitForFunction(() => document.getElementById("map-cancel").textContent === "Hide map", null, {timeout: 120000})
	await page.locator("#stage").focus()
	await page.keyboard.press("ArrowLeft")
	await exact(page)
	expect((await page.locator("#inset").textContent()).includes("Not this view"), "nothing marks it")
	expect(await page.locator("#inset").isVisible(), "the map is gone")
	await page.click("#inset-go")
	await page.waitForTimeout(400)
	await exact(page)
	expect(!(await page.locator("#inset").isVisible()), "it stays marked at its own view")
	await page.keyboard.press("Escape")
	await page.waitForTimeout(50)
	expect((await page.getAttribute("#toggle-map", "aria-pressed")) === "false", "Escape does not hide it")
	await page.uncheck("#map-pinned")
	await size(page)
})

// ---- Path ----

await check("a path plays to its end and is saved", async () => {
	await tab(page, "path")
	await page.locator("#stage").focus()
	for (let i = 0; i < 3; i++) {
		await page.click("#key-add")
		await page.locator("#stage").focus()
		for (let turn = 0; turn < 5; turn++) await page.keyboard.press("ArrowLeft")
		await exact(page)
	}
	await page.fill("#keys li:nth-child(2) input", "0.5")
	await page.press("#keys li:nth-child(2) input", "Enter")
	await page.click("#keys li:nth-child(3) [title='Move up key']")
	await page.click("#keys li:nth-child(3) [title='Delete key']")
	expect((await page.locator("#keys li").count()) === 2, "the key is not deleted")
	await page.fill("#keys li:nth-child(2) input", "0.8")
	await page.press("#keys li:nth-child(2) input", "Enter")
	await page.click("#play")
	await reach(page, "PLAYING")
	await exact(page)
	const path = JSON.parse((await saved(page, "path-save")).toString())
	const frames = path.camera_path.length
	expect(near(frames, 24, 1), `expected 24 frames, found ${frames}`)
	return `${frames} frames`
})

await check("Escape stops the playback", async () => {
	await page.click("#play")
	await reach(page, "PLAYING")
	await page.keyboard.press("Escape")
	await exact(page)
})

// ---- Keyboard alone ----

await check("every control is reached by the Tab key and shows its focus", async () => {
	await tab(page, "view")
	const wanted = await page.evaluate(() =>
		[...document.querySelectorAll("button, input, select, [tabindex='0']")]
			.filter(e => e.checkVisibility() && !e.disabled && e.tabIndex >= 0)
			.map(e => e.id)
	)
	await page.evaluate(() => document.activeElement.blur())
	const reached = new Set()
	const unmarked = []
	for (let i = 0; i < wanted.length + 5; i++) {
		await page.keyboard.press("Tab")
		const [id, ring] = await page.evaluate(() => {
			const {outlineStyle, outlineWidth} = getComputedStyle(document.activeElement)
			return [document.activeElement.id, outlineStyle !== "none" && parseFloat(outlineWidth) >= 2]
		})
		reached.add(id)
		if (id && !ring) unmarked.push(id)
	}
	const missing = wanted.filter(id => !reached.has(id))
	expect(missing.length === 0, `not reached: ${missing}`)
	expect(unmarked.length === 0, `without a ring: ${unmarked}`)
	return `${wanted.length} controls`
})

await check("a view, the help, the tabs and a comparison by keys alone", async () => {
	await page.locator("#stage").focus()
	await page.keyboard.press("PageDown")
	await page.waitForTimeout(400)
	await exact(page)
	await page.keyboard.press("?")
	expect(await page.locator("#help-dialog").isVisible(), "no help")
	await page.keyboard.press("Escape")
	expect(!(await page.locator("#help-dialog").isVisible()), "the help stays")
	await page.locator("#tab-view").focus()
	await page.keyboard.press("ArrowRight")
	expect(await page.locator("#panel-compare").isVisible(), "the arrow opens no tab")
	await page.locator("#b-scene").focus()
	await page.keyboard.press("ArrowDown")
	await exact(page)
	await page.locator("#stage").focus()
	await page.keyboard.press("x")
	await exact(page)
	expect((await page.getAttribute("#mode-difference", "aria-pressed")) === "true", "X shows no difference")
	await page.keyboard.press("x")
	await exact(page)
	await page.selectOption("#b-scene", "")
	await exact(page)
})

await check("the state is announced", async () => {
	expect((await text(page, "live")) === "EXACT", `found "${await text(page, "live")}"`)
})

await check("moves are jumps where motion is reduced", async () => {
	const still = await open({reducedMotion: "reduce"})
	await exact(still)
	const eyes = new Set()
	await still.keyboard.press("PageDown")
	for (let i = 0; i < 10; i++) {
		await still.waitForTimeout(20)
		eyes.add(await value(still, "eye"))
	}
	expect(eyes.size <= 2, `${eyes.size} cameras on the way`)
	await still.context().close()
})

// ---- Failures ----

await check("nothing in view offers the way home", async () => {
	await tab(page, "view")
	const before = await value(page, "target")
	const eye = await vector(page, "eye")
	await page.fill("#target", eye.map((v, i) => 2 * v - before.split(",").map(Number)[i]).join(", "))
	await page.fill("#eye", eye.map((v, i) => v + 50 * (v - before.split(",").map(Number)[i])).join(", "))
	await page.press("#eye", "Enter")
	await page.press("#target", "Enter")
	await page.fill("#target", (await vector(page, "eye")).map((v, i) => v + (v - eye[i])).join(", "))
	await page.press("#target", "Enter")
	await exact(page)
	expect((await text(page, "banner-text")) === "No splats in view.", `found "${await text(page, "banner-text")}"`)
	await page.click("#banner-button")
	await page.waitForTimeout(400)
	await exact(page)
	expect(!(await page.locator("#banner").isVisible()), "the banner stays")
})

await check("a stopped server is noticed, and the camera is kept", async () => {
	await page.locator("#stage").focus()
	await page.keyboard.press("ArrowLeft")
	await exact(page)
	const [eye, before] = [await value(page, "eye"), await canvas(page)]
	const noticed = await whileDown(async () => {
		server.child.kill("SIGSTOP")
		await page.keyboard.press("ArrowLeft")
		const start = performance.now()
		await reach(page, "LOST")
		const ms = performance.now() - start
		const banner = await text(page, "banner-text")
		expect(/^Connection lost\. Trying again in \d+ s$/.test(banner), `found "${banner}"`)
		if (shots) await page.screenshot({path: join(shots, "lost.png")})
		await page.click("#banner-button")
		server.child.kill("SIGCONT")
		await exact(page)
		return ms
	})
	await page.keyboard.press("ArrowRight")
	await exact(page)
	expect((await value(page, "eye")) === eye, "the camera moved")
	expect(differing(await canvas(page), before) === 0, "the picture differs")
	return `noticed after ${Math.round(noticed)} ms`
})

await check("the page reconnects to a restarted server", async () => {
	const before = await canvas(page)
	await whileDown(async () => {
		await stop(server.child)
		await reach(page, "LOST")
		server = await serve(BINARY, [...words, "--port", String(port)])
		expect(server.port === port, `the server took port ${server.port}, not ${port}`)
		await exact(page)
	})
	expect(differing(await canvas(page), before) === 0, "the picture differs")
})

await check("another token is refused with the reason", () =>
	whileDown(async () => {
		const other = await open({}, `http://localhost:${port}/#t=${"0".repeat(32)}`)
		await reach(other, "LOST")
		const banner = await text(other, "banner-text")
		expect(banner.startsWith("This address has no valid token."), `found "${banner}"`)
		await other.context().close()
	})
)

await check("a full server says so", async () => {
	const pages = []
	for (let i = 0; i < 3; i++) pages.push(await open())
	for (const other of pages) await exact(other)
	const last = await open()
	await reach(last, "LOST")
	const banner = await text(last, "banner-text")
	expect(banner.includes("--viewers"), `found "${banner}"`)
	for (const other of [...pages, last]) await other.context().close()
})

await check("a slow network carries frames and the exact picture, and nothing piles up", async () => {
	const network = await slowNetwork(port, 80, 5)
	const address = server.url.replace(`:${port}`, `:${network.address().port}`)
	const page = await open({viewport: {width: 980, height: 619}}, address)
	const frames = []
	let [waiting, most] = [0, 0]
	page.on("websocket", socket => {
		socket.on("framesent", ({payload}) => {
			const message = JSON.parse(payload)
			if (message.t === "shown") waiting -= 1
			frames.push([performance.now(), message])
		})
		socket.on("framereceived", ({payload}) => {
			if (typeof payload === "string" || payload[0] !== 1) return
			waiting += 1
			most = Math.max(most, waiting)
		})
	})
	await page.reload()
	await exact(page)
	frames.length = 0
	for (const key of ["KeyA", "KeyD", "KeyA", "KeyD"]) {
		await page.keyboard.down(key)
		await page.waitForTimeout(700)
		await page.keyboard.up(key)
	}
	await exact(page)
	const sent = new Map(frames.filter(([, {t}]) => t === "frame").map(([at, {seq}]) => [seq, at]))
	const shown = frames.filter(([, {t, seq}]) => t === "shown" && sent.has(seq))
	const ages = shown.map(([at, {seq}]) => at - sent.get(seq)).sort((a, b) => a - b)
	expect(ages.length >= 5, `${ages.length} frames came in 2.8 s`)
	// A longer queue would make later frames older and older.
	expect(most <= 2, `${most} frames waited to be shown`)
	const [median, last] = [ages[ages.length >> 1], ages.at(-1)]
	await page.context().close()
	network.close()
	return `${(ages.length / 2.8).toFixed(1)} frames/s, ${median.toFixed(0)} ms old in the median, ${last.toFixed(0)} at most`
})

await check("a gamepad flies and looks", async () => {
	const pad = await open()
	await exact(pad)
	const before = [await value(pad, "eye"), await value(pad, "target")]
	await pad.evaluate(() => {
		const state = {axes: [0, -1, 0.5, 0], buttons: []}
		navigator.getGamepads = () => [null, state]
		dispatchEvent(new Event("gamepadconnected"))
		setTimeout(() => (state.axes = [0.05, 0, 0, -0.1]), 500)
	})
	await pad.waitForTimeout(600)
	await exact(pad)
	const after = [await value(pad, "eye"), await value(pad, "target")]
	expect(after[0] !== before[0] && after[1] !== before[1], "the sticks do nothing")
	await pad.context().close()
})

await check("two equal scenes have a black difference", async () => {
	const two = await serve(BINARY, [SCENE, "--with", SCENE, "--port", "0"])
	const other = await open({}, two.url)
	await exact(other)
	await tab(other, "compare")
	await other.click("#mode-difference")
	await exact(other)
	expect(
		(await canvas(other)).rgb.every(value => value === 0),
		"it is not black"
	)
	await other.click("#measure")
	await other.waitForSelector("#metrics dd")
	const metrics = await other.locator("#metrics dd").allTextContents()
	expect(metrics[0] === "equal pictures", `found ${metrics}`)
	await other.context().close()
	await stop(two.child)
})

await check("a file that changes is shown anew, and a damaged one is named", async () => {
	const file = join(folder, "changing.ply")
	copyFileSync(SCENE, file)
	const watching = await serve(BINARY, [file, "--watch", "--port", "0"])
	const other = await open({}, watching.url)
	await exact(other)
	const before = await canvas(other)
	sh(`quadrille convert '${SCENE}' -o changing.ply --where 'opacity > 0.9'`)
	await other.waitForSelector(".note:has-text('read again')")
	await exact(other)
	expect(differing(await canvas(other), before) > 1000, "the picture is the old one")
	const after = await canvas(other)
	writeFileSync(file, "ply\nformat")
	await other.waitForSelector(".note.fault")
	expect(differing(await canvas(other), after) === 0, "the picture changed")
	const note = await other.locator(".note.fault span").textContent()
	await other.context().close()
	await stop(watching.child)
	return note.slice(-100)
})

// ---- Touch ----

const phone = {viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true, deviceScaleFactor: 2}
const small = await open(phone)
const session = await small.context().newCDPSession(small)
const touch = (type, points) => session.send("Input.dispatchTouchEvent", {type, touchPoints: points.map(([x, y], id) => ({x, y, id}))})
async function swipe(from, to) {
	await touch("touchStart", from)
	for (let i = 1; i <= 6; i++) {
		await touch(
			"touchMove",
			from.map(([x, y], k) => [x + ((to[k][0] - x) * i) / 6, y + ((to[k][1] - y) * i) / 6])
		)
		await small.waitForTimeout(20)
	}
	await touch("touchEnd", [])
}

await check("a phone's picture fills its screen with device pixels", async () => {
	await exact(small)
	const [w, h] = await small.evaluate(() => [document.getElementById("canvas").width, document.getElementById("canvas").height])
	expect(w === 780, `the picture is ${w} pixels wide`)
	// A listed view is shown as a whole; the camera that leaves it fills the screen.
	expect(near(w / h, 16 / 9, 0.01), `a listed view has ${w} x ${h} pixels`)
	return equalsRender(small)
})

await check("touch: drag, pinch, long press, double tap, joystick", async () => {
	await tab(small, "view")
	const close = () => small.click("#tab-view")
	await close()
	const eye = await value(small, "eye")
	await swipe([[150, 300]], [[250, 330]])
	await exact(small)
	expect((await value(small, "eye")) !== eye, "a finger does not orbit")
	const [wide, high] = await small.evaluate(() => [document.getElementById("canvas").width, document.getElementById("canvas").height])
	expect(wide === 780 && high > wide, `the moved picture has ${wide} x ${high} pixels`)
	const length = await distance(small)
	await swipe(
		[
			[150, 300],
			[230, 300]
		],
		[
			[90, 300],
			[290, 300]
		]
	)
	await exact(small)
	expect((await distance(small)) < 0.8 * length, "two fingers do not dolly")
	await touch("touchStart", [[190, 350]])
	await small.waitForTimeout(900)
	await touch("touchEnd", [])
	await small.click("#card-open")
	await small.waitForSelector("#splats tr")
	await small.click("#tab-pixel")
	const target = await value(small, "target")
	for (let i = 0; i < 2; i++) {
		await touch("touchStart", [[240, 500]])
		await touch("touchEnd", [])
	}
	await small.waitForTimeout(800)
	await exact(small)
	expect((await value(small, "target")) !== target, "a double tap does not centre")
	await small.click("#mode-fly")
	// It shows with the next frame of the page.
	const joystick = small.locator("#joystick")
	await joystick.waitFor()
	const box = await joystick.boundingBox()
	const middle = [box.x + box.width / 2, box.y + box.height / 2]
	const start = await value(small, "eye")
	await touch("touchStart", [middle])
	await touch("touchMove", [[middle[0], middle[1] - 40]])
	await small.waitForTimeout(400)
	await touch("touchEnd", [])
	await exact(small)
	expect((await value(small, "eye")) !== start, "the joystick does not fly")
	await small.click("#mode-orbit")
})
await small.context().close()

// ---- Looks ----

if (shots) mkdirSync(shots, {recursive: true})
for (const colorScheme of ["light", "dark"]) {
	for (const [device, options, least] of [
		["desktop", {}, 24],
		["phone", phone, 44]
	]) {
		await check(`names, contrast and targets: ${device}, ${colorScheme}`, async () => {
			const look = await open({...options, colorScheme})
			await exact(look)
			const wrong = []
			const shoot = async name => {
				await look.waitForTimeout(100)
				wrong.push(...(await look.evaluate(looksWrong, least)).map(fault => `${name}: ${fault}`))
				if (shots) await look.screenshot({path: join(shots, `${device}-${colorScheme}-${name}.png`)})
			}
			await shoot("start")
			for (const name of ["view", "compare", "map", "pixel", "path"]) {
				await tab(look, name)
				if (name === "compare") await look.selectOption("#b-scene", "0")
				if (name === "pixel") {
					await look.click("#probe")
					await look.waitForSelector("#splats tr")
					await look.click("#probe")
				}
				if (name === "path") for (let i = 0; i < 2; i++) await look.click("#key-add")
				await exact(look)
				await shoot(name)
			}
			for (const name of ["copy", "help"]) {
				await look.click(`#open-${name}`)
				await shoot(name)
				await look.click(`#${name}-dialog form button:last-child`)
			}
			await look.context().close()
			expect(wrong.length === 0, [...new Set(wrong)].join("; "))
		})
	}
}

await check("no console message, foreign request or token in a URL", async () => {
	expect(faults.length === 0, [...new Set(faults)].join("; "))
})

await browser.close()
await stop(server.child)
rmSync(folder, {recursive: true})
process.exit(finish() ? 0 : 1)
