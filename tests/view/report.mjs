// The pages of `quadrille compare --html`, with and without scripts, and of `quadrille figures` in a browser:
//
//     npm ci && node report.mjs QUADRILLE SCENE [SCREENSHOTS]
//
// SCENE is a scene with a camera file beside it. CHROMIUM names another browser than /usr/bin/chromium. Ends with
// "N passed, N failed".

import {execFileSync} from "node:child_process"
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs"
import {tmpdir} from "node:os"
import {dirname, join, resolve} from "node:path"
import {fileURLToPath, pathToFileURL} from "node:url"
import {chromium} from "playwright-core"
import {check, expect, finish} from "./support.mjs"

const [, , quadrille, scene, shots] = process.argv
if (!scene) {
	console.error("usage: node report.mjs QUADRILLE SCENE [SCREENSHOTS]")
	process.exit(2)
}
const folder = mkdtempSync(join(tmpdir(), "quadrille-report-"))
const run = (...words) => execFileSync(resolve(quadrille), words, {cwd: folder, encoding: "utf8"})
const SCENE = resolve(scene)
run("render", SCENE, "--view", "all", "--width", "320", "--profile", "mip-splatting", "-o", "photos/{view}.jpg")
run("compare", SCENE, "photos", "--width", "160", "--resize", "--html", "report")
// Figures of each kind of suite. A study of meshes has one picture; the counts of merging are those of the repository.
const suites = {
	"splats.toml": `
		scene = [{name = "vase", recipe = "object", splats = 2000, view = "0..2", width = 64}]`,
	"meshes.toml": `
		workload = "deferred"
		mesh = [{name = "plane", mesh = "plane", tessellate = 60, width = 96, height = 64, camera_move = [0.5, 0, 0], coc_px = 8}]
		study = [
			{name = "scene", meshes = ["plane"], method = ["cached-decoupled", "cached-decoupled+z", "sds"], grid = ["pixel", "adaptive"], traffic = true},
			{name = "blur", meshes = ["plane"], method = ["msaa", "cached-decoupled", "cached-decoupled+z", "sds"], grid = ["pixel", "adaptive"], tile = [32, 64, 128, 256, "whole"], memo = [16, 64, 256, 1024]},
			{name = "heat", meshes = ["plane"], method = "sds", grid = ["pixel", "adaptive"], tile = 32, heat = true}]`
}
for (const [name, text] of Object.entries(suites)) writeFileSync(join(folder, name), text)
const here = dirname(fileURLToPath(import.meta.url))
const FIGURES = ["fig6", "fig7", "fig10", "fig15", "fig16", "fig18", "fig20", "table1", "sds-table1", "sds-fig9", "sds-fig10", "sds-fig12", "sds-fig13"]
// Only a report of a scene on its own has words for one scene.
run("figures", ...Object.keys(suites), "-o", "figures", "--quick", "--only", String(FIGURES), "-q")
run("figures", "--kept", join(here, "../../benches/mesh.results.jsonl"), "-o", "merging", "-q")
const PAGES = ["report", "figures", "merging"]

const rows = readFileSync(join(folder, "report/table.csv"), "utf8").trim().split("\n").map(line => line.split(","))
const [headings, ...pairs] = rows
const number = key => pair => +pair[headings.indexOf(key)]
const worstFirst = (key, sign) => pairs.toSorted((a, b) => sign * (number(key)(a) - number(key)(b))).map(pair => pair[0])

const browser = await chromium.launch({executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"]})
async function open(options, name = "report") {
	const page = await browser.newPage(options)
	const outside = []
	page.on("request", request => /^(file|data):/.test(request.url()) || outside.push(request.url()))
	page.on("pageerror", error => outside.push(String(error)))
	await page.goto(pathToFileURL(join(folder, name, "index.html")).href)
	return {page, outside}
}
// Names of the pairs from the top of the page.
const order = page =>
	page.$$eval(".pair", articles =>
		articles
			.map(article => [article.getBoundingClientRect().top, article.querySelector("h2").textContent])
			.sort((a, b) => a[0] - b[0])
			.map(([, name]) => name)
	)

for (const [width, colorScheme] of [[1280, "light"], [1280, "dark"], [400, "light"], [400, "dark"]]) {
	await check(`the page fits ${width} pixels in ${colorScheme}, and shows its pictures`, async () => {
		const {page, outside} = await open({viewport: {width, height: 900}, colorScheme})
		expect(await page.evaluate(() => document.documentElement.scrollWidth) <= width, "no part lies beyond the edge")
		const images = await page.$$eval(".one", boxes => boxes.map(box => getComputedStyle(box).backgroundImage.slice(0, 15)))
		expect(images.length === 3 * pairs.length && images.every(image => image === 'url("data:image'), String(images))
		const [paper, ink] = await page.evaluate(() => {
			const style = getComputedStyle(document.body)
			return [style.backgroundColor, style.color].map(colour => +colour.match(/\d+/)[0])
		})
		expect(colorScheme === "dark" ? ink - paper > 150 : paper - ink > 150, `${paper} ${ink}`)
		expect(outside.length === 0, String(outside))
		if (shots) {
			mkdirSync(shots, {recursive: true})
			await page.screenshot({path: join(shots, `report-${width}-${colorScheme}.png`)})
		}
		await page.close()
	})
}

await check("radio buttons change the order without scripts", async () => {
	const {page} = await open({viewport: {width: 1280, height: 900}, javaScriptEnabled: false})
	expect(String(await order(page)) === String(worstFirst("psnr_db", 1)), String(await order(page)))
	for (const [key, expected] of [["ssim", worstFirst("ssim", 1)], ["flip", worstFirst("flip", -1)], ["name", pairs.map(pair => pair[0])]]) {
		await page.check(`#by-${key}`)
		expect(String(await order(page)) === String(expected), `${key}: ${await order(page)}`)
	}
	const resize = await page.$eval(".over", over => getComputedStyle(over).resize)
	expect(resize === "horizontal", resize)
	await page.close()
})

await check("the slider moves the edge between both pictures", async () => {
	const {page} = await open({viewport: {width: 1280, height: 900}})
	const share = () => page.$eval(".over", over => over.getBoundingClientRect().width / over.parentElement.getBoundingClientRect().width)
	expect(Math.abs((await share()) - 0.5) < 0.01, `${await share()}`)
	await page.focus(".both input")
	await page.keyboard.press("Home")
	expect((await share()) < 0.01, `${await share()}`)
	const box = await (await page.$(".both")).boundingBox()
	// The slider at the bottom is in view.
	const y = box.y + box.height - 100
	await page.mouse.move(box.x + 0.2 * box.width, y)
	await page.mouse.down()
	await page.mouse.move(box.x + 0.8 * box.width, y)
	await page.mouse.up()
	expect(Math.abs((await share()) - 0.8) < 0.01, `${await share()}`)
	await page.close()
})

const AXE = join(here, "node_modules/axe-core/axe.min.js")
const SIZES = [{width: 1280, height: 800}, {width: 390, height: 844}]
for (const name of PAGES)
	for (const colorScheme of ["light", "dark"])
		for (const viewport of SIZES)
			await check(`axe finds nothing on the page ${name} at ${viewport.width} pixels in ${colorScheme}`, async () => {
				const {page, outside} = await open({viewport, colorScheme}, name)
				await page.$$eval("details", all => all.forEach(details => (details.open = true)))
				await page.addScriptTag({path: AXE})
				const {violations} = await page.evaluate(() => axe.run())
				const found = violations.map(({id, nodes}) => `${id} ${nodes.length}x ${nodes[0].target} ${nodes[0].html.slice(0, 120)}`)
				expect(found.length === 0, found.join(" | "))
				expect(outside.length === 0, String(outside))
				const width = await page.evaluate(() => document.documentElement.scrollWidth)
				expect(width <= viewport.width, `the page is ${width} pixels wide`)
				if (shots && name !== "report") await page.screenshot({path: join(shots, `${name}-${viewport.width}-${colorScheme}.png`), fullPage: true})
				await page.close()
			})

for (const name of ["figures", "merging"])
	for (const viewport of SIZES)
		await check(`no text of a chart runs into another one on the page ${name} at ${viewport.width} pixels`, async () => {
			const {page} = await open({viewport}, name)
			const texts = await page.evaluate(async () => {
				await document.fonts.ready
				// Boxes in the units of a chart: turned texts, and texts that are not shown, have none.
				const boxes = svg =>
					[...svg.querySelectorAll("text:not([transform])")].map(text => {
						const {x, width} = text.getBBox()
						return {text: text.textContent, left: x, right: x + width, baseline: +text.getAttribute("y")}
					})
				return [...document.querySelectorAll("svg")].filter(svg => svg.getBoundingClientRect().width > 0).map(boxes)
			})
			expect(texts.flat().length > 50, `${texts.flat().length} texts`)
			const pairs = texts.flatMap(boxes => boxes.flatMap((a, at) => boxes.slice(0, at).map(b => [a, b])))
			// Texts of one line, within the rounding of places to a tenth of a pixel.
			const meet = ([a, b]) => a.baseline === b.baseline && a.left + 0.2 < b.right && b.left + 0.2 < a.right
			const found = pairs.filter(meet).map(pair => pair.map(one => one.text).join(" on "))
			expect(found.length === 0, String(found))
			await page.close()
		})

await check("paper has the colours of the page, no sliders, and each title on the page of its chart", async () => {
	const {page} = await open({viewport: SIZES[0], colorScheme: "dark"})
	await page.emulateMedia({media: "print"})
	const adjusted = await page.$$eval(".scale i, .e", all => all.map(one => getComputedStyle(one).printColorAdjust))
	expect(adjusted.length > 0 && adjusted.every(word => word === "exact"), String(adjusted))
	const sliders = await page.$$eval("input", all => all.filter(input => input.getBoundingClientRect().width > 0).length)
	expect(sliders === 0, `${sliders} sliders and buttons`)
	await page.close()
	for (const name of ["figures", "merging"]) {
		const {page} = await open({viewport: SIZES[0], colorScheme: "dark"}, name)
		await page.emulateMedia({media: "print"})
		const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
		expect(ground === "rgb(255, 255, 255)", ground)
		await page.close()
	}
})

await browser.close()
rmSync(folder, {recursive: true})
process.exit(finish() ? 0 : 1)
