// Pages of `quadrille view` in a browser: what tests do to them and read from them.

import {execFileSync} from "node:child_process"
import {mkdtempSync, readFileSync, symlinkSync} from "node:fs"
import {tmpdir} from "node:os"
import {join} from "node:path"
import {canvasPixels} from "./support.mjs"

const WAIT_MS = 60000

// A folder in which commands run as in a user's shell, with the program on its path.
export function workplace(binary) {
	const folder = mkdtempSync(join(tmpdir(), "quadrille-view-"))
	symlinkSync(binary, join(folder, "quadrille"))
	const sh = command =>
		execFileSync("bash", ["-c", command], {
			cwd: folder,
			env: {...process.env, PATH: `${folder}:${process.env.PATH}`},
			stdio: ["ignore", "pipe", "pipe"],
			encoding: "utf8"
		})
	return {folder, sh}
}

// Opens an address in a context of its own. PAGE names a folder whose files replace those in the binary.
export async function openPage(browser, address, options = {}) {
	const context = await browser.newContext({
		viewport: {width: 1280, height: 720},
		acceptDownloads: true,
		permissions: ["clipboard-read", "clipboard-write"],
		...options
	})
	if (process.env.PAGE) {
		await context.route(/\/(\w+\.(js|css|svg))?$/, async route => {
			const response = await route.fetch()
			const name = new URL(route.request().url()).pathname.slice(1) || "index.html"
			await route.fulfill({response, body: readFileSync(join(process.env.PAGE, name))})
		})
	}
	const page = await context.newPage()
	page.setDefaultTimeout(WAIT_MS)
	return page
}

export const state = page => page.locator("html").getAttribute("data-state")
export const reach = (page, name) => page.waitForSelector(`html[data-state="${name}"]`, {state: "attached"})
// Waits for the exact picture of what was just done.
export async function exact(page) {
	await page.waitForTimeout(60)
	await reach(page, "EXACT")
}
// Waits for a move to a listed view, and its exact picture.
export async function settled(page) {
	await page.waitForTimeout(400)
	await exact(page)
}
export async function canvas(page) {
	const [width, height, text] = await page.evaluate(canvasPixels)
	return {width, height, rgb: Buffer.from(text, "base64")}
}
export const value = (page, id) => page.locator(`#${id}`).inputValue()
export const vector = async (page, id) => (await value(page, id)).split(",").map(Number)
export const text = (page, id) => page.locator(`#${id}`).textContent()
export async function tab(page, name) {
	if ((await page.locator(`#tab-${name}`).getAttribute("aria-selected")) !== "true") await page.click(`#tab-${name}`)
}
export async function size(page, width, height) {
	await tab(page, "view")
	await page.selectOption("#size", width ? "custom" : "window")
	if (!width) return
	for (const [id, side] of [
		["width", width],
		["height", height]
	]) {
		await page.fill(`#${id}`, String(side))
		await page.press(`#${id}`, "Enter")
	}
}
export async function distance(page) {
	const [eye, target] = [await vector(page, "eye"), await vector(page, "target")]
	return Math.hypot(...eye.map((v, i) => v - target[i]))
}
// A command of the dialog "Copy", `render` or `sim`; a camera file that it needs is saved in the folder.
export async function copied(page, folder, what = "render") {
	await page.click("#open-copy")
	await page.waitForFunction(what => document.getElementById(`copy-${what}`).value, what)
	const command = await value(page, `copy-${what}`)
	if ((await text(page, "copy-note")).includes("has to be saved")) {
		const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-cameras")])
		await download.saveAs(join(folder, download.suggestedFilename()))
	}
	await page.click("#copy-dialog form button:last-child")
	return command
}
// Downloads what a click saves: its bytes, and its name.
export async function downloaded(page, id) {
	const [download] = await Promise.all([page.waitForEvent("download"), page.click(`#${id}`)])
	return {bytes: readFileSync(await download.path()), name: download.suggestedFilename()}
}
export const saved = async (page, id) => (await downloaded(page, id)).bytes
