// Server, pictures and checks of the tests in a browser.

import {spawn} from "node:child_process"
import {readFileSync} from "node:fs"
import {connect, createServer} from "node:net"
import {inflateSync} from "node:zlib"

const START_MS = 30000
// Bytes that a slow network buffers in each direction.
const BUFFER_BYTES = 65536

// Names of the checks to run; all by default.
const chosen = new RegExp(process.env.CHECKS ?? "")

let [passed, failed] = [0, 0]

// Runs a check and prints its line.
export async function check(name, action) {
	if (!chosen.test(name)) return
	const start = performance.now()
	try {
		const remark = await action()
		passed += 1
		const ms = Math.round(performance.now() - start)
		console.log(`ok      ${name}${remark ? `: ${remark}` : ""} (${ms} ms)`)
	} catch (error) {
		failed += 1
		console.log(`FAILED  ${name}: ${error.message.split("\n").slice(0, 4).join(" | ")}`)
	}
}

export function finish() {
	console.log(`${passed} passed, ${failed} failed`)
	return failed === 0
}

export function expect(condition, message) {
	if (!condition) throw new Error(message)
}

// Starts `quadrille view` and returns the process and the address that it prints.
export function serve(quadrille, words, options = {}) {
	const child = spawn(quadrille, ["view", ...words, "--json"], {stdio: ["ignore", "pipe", "pipe"], ...options})
	const problems = []
	child.stderr.on("data", data => problems.push(data))
	return new Promise((resolve, reject) => {
		const timer = setTimeout(() => reject(new Error("quadrille view prints no address")), START_MS)
		let text = ""
		child.stdout.on("data", data => {
			text += data
			try {
				resolve({child, ...JSON.parse(text)})
				clearTimeout(timer)
			} catch {
				// The document is not whole yet.
			}
		})
		child.on("exit", code => reject(new Error(`quadrille view ended with ${code}: ${problems.join("")}`)))
	})
}

export async function stop(child) {
	if (child.exitCode !== null) return
	const ended = new Promise(resolve => child.on("exit", resolve))
	child.kill("SIGCONT")
	child.kill("SIGINT")
	await ended
}

// Decodes a PNG of 8 bits per channel without interlacing into RGB bytes.
export function readPng(file) {
	const bytes = typeof file === "string" ? readFileSync(file) : file
	const chunks = []
	let [width, height, channels] = [0, 0, 0]
	for (let at = 8; at < bytes.length;) {
		const length = bytes.readUInt32BE(at)
		const kind = bytes.toString("latin1", at + 4, at + 8)
		const data = bytes.subarray(at + 8, at + 8 + length)
		if (kind === "IHDR") {
			;[width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)]
			expect(data[8] === 8 && data[12] === 0, "the PNG is not of 8 bits")
			channels = {2: 3, 6: 4}[data[9]]
			expect(channels, "the PNG is not RGB or RGBA")
		} else if (kind === "IDAT") chunks.push(data)
		at += length + 12
	}
	const raw = inflateSync(Buffer.concat(chunks))
	const stride = width * channels
	const rows = Buffer.alloc(stride * height)
	for (let y = 0; y < height; y++) {
		const filter = raw[y * (stride + 1)]
		for (let x = 0; x < stride; x++) {
			const left = x >= channels ? rows[y * stride + x - channels] : 0
			const up = y > 0 ? rows[(y - 1) * stride + x] : 0
			const corner = y > 0 && x >= channels ? rows[(y - 1) * stride + x - channels] : 0
			const guess = left + up - corner
			const [a, b, c] = [left, up, corner].map(value => Math.abs(guess - value))
			const paeth = a <= b && a <= c ? left : b <= c ? up : corner
			const predicted = [0, left, up, (left + up) >> 1, paeth][filter]
			rows[y * stride + x] = raw[y * (stride + 1) + 1 + x] + predicted
		}
	}
	if (channels === 3) return {width, height, rgb: rows}
	const rgb = Buffer.alloc(3 * width * height)
	for (let i = 0; i < width * height; i++) rows.copy(rgb, 3 * i, 4 * i, 4 * i + 3)
	return {width, height, rgb}
}

// Number of pixels that differ, in the columns from..to.
export function differing(a, b, from = 0, to = a.width) {
	const sizes = [a, b].map(({width, height}) => `${width} x ${height}`)
	expect(sizes[0] === sizes[1], `expected ${sizes[1]} pixels, found ${sizes[0]}`)
	let count = 0
	for (let y = 0; y < a.height; y++) {
		for (let x = from; x < to; x++) {
			const at = 3 * (y * a.width + x)
			if (a.rgb.compare(b.rgb, at, at + 3, at, at + 3) !== 0) count += 1
		}
	}
	return count
}

// Runs in the page: the canvas as [width, height, base64 of RGB].
export function canvasPixels() {
	const canvas = document.getElementById("canvas")
	const {width, height} = canvas
	// A copy is read, so that the page's own canvas stays as it is.
	const copy = new OffscreenCanvas(width, height).getContext("2d", {willReadFrequently: true})
	copy.drawImage(canvas, 0, 0)
	const {data} = copy.getImageData(0, 0, width, height)
	let text = ""
	const row = new Uint8Array(3 * width)
	for (let y = 0; y < height; y++) {
		for (let x = 0; x < width; x++) {
			for (let c = 0; c < 3; c++) row[3 * x + c] = data[4 * (y * width + x) + c]
		}
		text += String.fromCharCode(...row)
	}
	return [width, height, btoa(text)]
}

// Runs in the page: faults of what is visible, as texts: missing names, contrast, small targets.
export function looksWrong(leastTarget) {
	const faults = []
	const parse = colour => {
		const values = colour.match(/[\d.]+/g).map(Number)
		const scaled = colour.startsWith("color(") ? values.slice(-4).map((v, i) => (i < 3 ? 255 * v : v)) : values
		return [...scaled.slice(0, 3), scaled[3] ?? 1]
	}
	const luminance = ([r, g, b]) => {
		const [x, y, z] = [r, g, b].map(c => {
			const s = c / 255
			return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4
		})
		return 0.2126 * x + 0.7152 * y + 0.0722 * z
	}
	const background = element => {
		for (let at = element; at; at = at.parentElement) {
			const colour = parse(getComputedStyle(at).backgroundColor)
			if (colour[3] > 0.9) return colour
		}
		return [255, 255, 255, 1]
	}
	for (const element of document.querySelectorAll("body *")) {
		if (!element.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue
		const box = element.getBoundingClientRect()
		const name = element.id || element.className || element.tagName
		if (element.matches("button, input, select, textarea, [role=slider]")) {
			const label = element.ariaLabel || element.labels?.[0]?.textContent || element.textContent
			if (!label.trim()) faults.push(`${name} has no name`)
			const small = Math.min(box.width, box.height) < leastTarget - 0.5
			const isSmallKind = element.matches("[type=checkbox], [type=range], [role=tab]")
			if (small && !isSmallKind) faults.push(`${name} is ${Math.round(box.width)} x ${Math.round(box.height)} px`)
		}
		const hasText = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())
		if (!hasText || element.id === "live" || element.matches(":disabled, option, [role=tab]:disabled")) continue
		const [text, ground] = [luminance(parse(getComputedStyle(element).color)), luminance(background(element))]
		const ratio = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05)
		if (ratio < 4.5) faults.push(`${name} has a contrast of ${ratio.toFixed(2)}`)
	}
	return faults
}

// Forwards bytes after half of the round trip, at most at a rate, in order.
function forward(from, to, roundTripMs, megabits) {
	const queue = []
	let free = 0
	let waiting = 0
	function pump() {
		while (queue.length > 0 && queue[0].due <= performance.now()) {
			const {data} = queue.shift()
			if (!data) return to.end()
			waiting -= data.length
			if (waiting <= BUFFER_BYTES) from.resume()
			to.write(data)
		}
		if (queue.length > 0) setTimeout(pump, queue[0].due - performance.now())
	}
	function push(data) {
		free = Math.max(free, performance.now()) + ((data?.length ?? 0) * 8) / (megabits * 1000)
		queue.push({data, due: free + roundTripMs / 2})
		// The timer of an earlier entry is running otherwise.
		if (queue.length === 1) setTimeout(pump, queue[0].due - performance.now())
	}
	from.on("data", data => {
		waiting += data.length
		if (waiting > BUFFER_BYTES) from.pause()
		push(data)
	})
	from.on("end", () => push(null))
	from.on("error", () => to.destroy())
}

// A way to a port of this machine with a round trip and a rate.
export function slowNetwork(port, roundTripMs, megabits) {
	const server = createServer({allowHalfOpen: true}, client => {
		const target = connect({port, host: "127.0.0.1", allowHalfOpen: true})
		for (const socket of [client, target]) socket.setNoDelay(true)
		forward(client, target, roundTripMs, megabits)
		forward(target, client, roundTripMs, megabits)
	})
	return new Promise(resolve => server.listen(0, "127.0.0.1", () => resolve(server)))
}
