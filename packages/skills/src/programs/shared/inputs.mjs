/** What scripts are given to work on. */
import { readFileSync } from 'node:fs'
import { Refused } from './cli.mjs'

/** `-` is what is piped in. */
export function readBytes(file) {
  try {
    return readFileSync(file === '-' ? 0 : file)
  } catch (error) {
    throw new Refused(`${file} cannot be read: ${error.message}`)
  }
}

export const readText = (file) => readBytes(file).toString('utf8')

export function readJson(file) {
  try {
    return JSON.parse(readText(file))
  } catch (error) {
    if (error instanceof Refused) throw error
    throw new Refused(`${file} is not JSON: ${error.message}`)
  }
}

/** `1,3-5,9-` of so many, as indexes from 0 in the order given. */
export function numbersIn(text, count) {
  return text.split(',').flatMap((part) => {
    const found = /^\s*(\d+)\s*(-\s*(\d+)?)?\s*$/.exec(part)
    if (!found) throw new Refused(`${part} is no number and no range such as 2-5`)
    const first = Number(found[1])
    const last = found[2] === undefined ? first : Number(found[3] ?? count)
    if (first < 1 || last > count || first > last)
      throw new Refused(`${part.trim()} is not within 1-${count}`)
    return Array.from({ length: last - first + 1 }, (_, i) => first - 1 + i)
  })
}

/** Bytes, type and size in pixels of a PNG or JPEG. */
export function readImage(file) {
  const bytes = readBytes(file)
  if (bytes.subarray(0, 8).toString('hex') === '89504e470d0a1a0a')
    return { bytes, extension: 'png', type: 'image/png', ...pngSize(bytes) }
  if (bytes[0] === 0xff && bytes[1] === 0xd8)
    return { bytes, extension: 'jpeg', type: 'image/jpeg', ...jpegSize(bytes, file) }
  throw new Refused(`${file} is neither a PNG nor a JPEG`)
}

const pngSize = (bytes) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) })

function jpegSize(bytes, file) {
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1]
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  throw new Refused(`${file}: its size cannot be read`)
}
