// Every function once, then random input from two browsers for some minutes: no console error, and no growth of the
// server's memory after the first of them.
//
// node soak.mjs QUADRILLE SCENE MINUTES [SEED]
import {spawn} from "node:child_process"
import {readFileSync} from "node:fs"
import {chromium} from "playwright-core"

const [, , quadrille, scene, minutes, seed = "1"] = process.argv
// Growth after the first minute that counts as a leak.
const MAX_GROWTH = 1.1
// Maps of different views that are shown first; the server keeps about six of a window of 980x545.
const TOUR_MAPS = 8

let state = Number(seed)
function random(below) {
	// A linear congruential generator (Numerical Recipes), so that a run can be repeated.
	state = (Math.imul(state, 1664525) + 1013904223) >>> 0
	return Math.floor((state / 2 ** 32) * below)
}

const server = spawn(quadrille, ["view", scene, "--no-open", "--json", "--port", "0"], {stdio: ["ignore", "pipe", "inherit"]})
let text = ""
for await (const chunk of server.stdout) {
	text += chunk
	if (text.trim().endsWith("}")) break
}
const {url} = JSON.parse(text)
const residentMiB = () => Number(readFileSync(`/proc/${server.pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1]) / 1024

const errors = []
const [browsers, pages] = [[], []]
for (const viewport of [
	{width: 980, height: 600},
	{width: 390, height: 844}
]) {
	const browser = await chromium.launch({
		executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
		args: ["--no-sandbox", "--disable-gpu"]
	})
	browsers.push(browser)
	const page = await browser.newPage({viewport})
	page.on("console", message => message.type() === "error" && errors.push(message.text()))
	page.on("pageerror", error => errors.push(String(error)))
	page.on("dialog", dialog => dialog.dismiss())
	await page.goto(url)
	await page.waitForTimeout(2000)
	pages.push(page)
}

const KEYS = "wasdqeWASD,.uhcpbxm[]?+-".split("").concat(["ArrowLeft", "ArrowUp", "PageDown", "PageUp", "Escape", "Tab", "Enter"])
async function act(page) {
	const {width, height} = page.viewportSize()
	const point = () => [random(width), random(height)]
	switch (random(8)) {
		case 0:
		case 1: {
			await page.mouse.move(...point())
			await page.mouse.down({button: ["left", "middle", "right"][random(3)]})
			for (let n = random(20); n > 0; n -= 1) await page.mouse.move(...point())
			for (const button of ["left", "middle", "right"]) await page.mouse.up({button})
			break
		}
		case 2:
			await page.mouse.wheel(random(200) - 100, random(800) - 400)
			break
		case 3:
			await page.keyboard.press(KEYS[random(KEYS.length)], {delay: random(200)})
			break
		case 4: {
			const buttons = await page.locator("button:visible, [role=tab]:visible, summary:visible, input[type=checkbox]:visible").all()
			if (buttons.length > 0) await buttons[random(buttons.length)].click({timeout: 500}).catch(() => {})
			break
		}
		case 5: {
			const selects = await page.locator("select:visible").all()
			if (selects.length > 0) {
				const select = selects[random(selects.length)]
				const count = await select
					.locator("option")
					.count()
					.catch(() => 0)
				if (count > 0) await select.selectOption({index: random(count)}, {timeout: 500}).catch(() => {})
			}
			break
		}
		case 6: {
			const sliders = await page.locator("input[type=range]:visible").all()
			if (sliders.length > 0 && random(2)) {
				const share = random(100) / 100
				const slider = sliders[random(sliders.length)]
				await slider.evaluate((input, share) => {
					const [least, most] = [Number(input.min), Number(input.max)]
					input.value = least + share * (most - least)
					input.dispatchEvent(new Event("input"))
				}, share).catch(() => {})
			} else await page.waitForTimeout(random(1500))
			break
		}
		default:
			if (random(20) === 0) await page.reload()
			else await page.mouse.click(...point())
	}
}

// Two pictures at once, a probe, more maps than the server keeps, filters and a film: what grows after it grows without end.
async function tour(page) {
	const tab = async name => {
		if ((await page.locator(`#tab-${name}`).getAttribute("aria-selected")) !== "true") await page.click(`#tab-${name}`)
	}
	await tab("compare")
	await page.selectOption("#b-scene", "0")
	await page.selectOption("#b-profile", "gsplat-aa")
	await page.waitForTimeout(1000)
	await tab("map")
	for (let n = 0; n < TOUR_MAPS; n += 1) {
		// Arrow keys move between the tabs while one of them has the focus.
		await page.evaluate(() => document.activeElement.blur())
		await page.keyboard.press("ArrowLeft")
		await page.waitForTimeout(500)
		await page.click("#map-show")
		await page.waitForFunction(() => document.getElementById("map-cancel").textContent === "Hide map", null, {timeout: 120_000})
	}
	await page.keyboard.press("Escape")
	await tab("view")
	for (const opacity of ["0.2", "0.5", "0.1"]) {
		await page.fill("#filter-opacity", opacity)
		await page.waitForTimeout(500)
	}
	await page.check("#filter-box")
	await page.waitForTimeout(500)
	await page.click("#filter-reset")
	await tab("path")
	await page.click("#key-add")
	await page.evaluate(() => document.activeElement.blur())
	await page.keyboard.press("ArrowLeft")
	await page.waitForTimeout(500)
	await page.click("#key-add")
	const film = page.waitForEvent("download", {timeout: 300_000})
	await page.click("#film-save")
	await film
	await page.keyboard.press("p")
}
for (const page of pages) await tour(page)

const start = Date.now()
const passed = () => (Date.now() - start) / 60_000
let first = 0
let printed = 0
let actions = 0
while (passed() < Number(minutes)) {
	await Promise.all(pages.map(act))
	actions += pages.length
	if (first === 0 && passed() >= 1) first = residentMiB()
	if (passed() >= printed) {
		console.log(`${printed} min: ${residentMiB().toFixed(0)} MiB, ${actions} actions, ${errors.length} errors`)
		printed += 1
	}
}
const last = residentMiB()
for (const browser of browsers) await browser.close()
server.kill("SIGINT")
const hasLeak = first > 0 && last > MAX_GROWTH * first
console.log(`after a minute ${first.toFixed(0)} MiB, at the end ${last.toFixed(0)} MiB, ${actions} actions`)
errors.slice(0, 20).forEach(error => console.log(error))
console.log(`${Number(!hasLeak) + Number(errors.length === 0)} passed, ${Number(hasLeak) + Number(errors.length > 0)} failed`)
process.exitCode = hasLeak || errors.length > 0 ? 1 : 0
