// The page of `quadrille compare --html` in a browser, with and without scripts:
//
//     npm ci && node report.mjs QUADRILLE SCENE [SCREENSHOTS]
//
// SCENE is a scene with a camera file beside it. CHROMIUM names another browser than /usr/bin/chromium. Ends with
// "N passed, N failed".

import {execFileSync} from "node:child_process"
import {mkdirSync, mkdtempSync, readFileSync, rmSync} from "node:fs"
import {tmpdir} from "node:os"
import {join, resolve} from "node:path"
import {pathToFileURL} from "node:url"
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
const rows = readFileSync(join(folder, "report/table.csv"), "utf8").trim().split("\n").map(line => line.split(","))
const [headings, ...pairs] = rows
const number = key => pair => +pair[headings.indexOf(key)]
const worstFirst = (key, sign) => pairs.toSorted((a, b) => sign * (number(key)(a) - number(key)(b))).map(pair => pair[0])

const browser = await chromium.launch({executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"]})
async function open(options) {
	const page = await browser.newPage(options)
	const outside = []
	page.on("request", request => /^(file|data):/.test(request.url()) || outside.push(request.url()))
	page.on("pageerror", error => outside.push(String(error)))
	await page.goto(pathToFileURL(join(folder, "report/index.html")).href)
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

await browser.close()
rmSync(folder, {recursive: true})
process.exit(finish() ? 0 : 1)
