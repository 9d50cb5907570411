/** Secrets that tests search for in everything the service stores and sends, and the search itself. */
import { randomBytes } from 'node:crypto'
import { lstat, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, inflateRawSync, zstdDecompressSync } from 'node:zlib'
import { finderOf } from './finder.ts'

export type Canary = { name: string; secret: string; patterns: readonly Buffer[] }

const half = 16

/** Creates a secret with characters that JSON, URLs and HTML escape. The search looks for the word between them. */
export const newCanary = (name: string): Canary =>
  canaryOf(name, `c/"${randomBytes(half).toString('hex')}+&\\z`)

/** Makes a canary of an existing secret. `core`: the searched part, by default the longest word. */
export function canaryOf(name: string, secret: string, core = longestWord(secret)): Canary {
  if (core.length < 2 * half) throw new Error(`${name} is too short to be looked for`)
  const halves = [core.slice(0, half), core.slice(-half)]
  return { name, secret, patterns: halves.flatMap((each) => spellings(Buffer.from(each))) }
}

function longestWord(text: string): string {
  const [longest = ''] = text.split(/[^\w-]+/).toSorted((a, b) => b.length - a.length)
  return longest
}

/** Each half of the secret as it is, in Base64 at every alignment, and in hexadecimal digits. */
function spellings(bytes: Buffer): Buffer[] {
  const texts = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
  })
  return [bytes, ...[...texts, bytes.toString('hex')].map((text) => Buffer.from(text))]
}

/** Returns the canaries in a content, each as `canary in place`. */
export function foundIn(canaries: readonly Canary[], source: string, content: Buffer | string) {
  const find = finders.get(canaries) ?? finderOf(canaries)
  finders.set(canaries, find)
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return [...find(bytes)].map((name) => `${name} in ${source}`)
}

const finders = new WeakMap<readonly Canary[], ReturnType<typeof finderOf>>()

/** Returns the files of an archive in one buffer. */
function unzip(archive: Buffer): Buffer {
  const files: Buffer[] = []
  for (let at = archive.indexOf(zipped); at >= 0; at = archive.indexOf(zipped, at + 4)) {
    const packed = archive.subarray(
      at + 30 + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28),
    )
    files.push(archive.readUInt16LE(at + 8) === 8 ? inflateRawSync(packed) : packed)
  }
  return Buffer.concat(files)
}

const zipped = Buffer.from('PK\x03\x04')
const packings = [
  { magic: zipped, unpack: unzip },
  { magic: Buffer.of(0x1f, 0x8b), unpack: gunzipSync },
  { magic: Buffer.of(0x28, 0xb5, 0x2f, 0xfd), unpack: zstdDecompressSync },
]

/** Unpacks compressed content, also when it is compressed several times. Returns the content of each step. */
function unpacked(content: Buffer): Buffer[] {
  for (const { magic, unpack } of packings) {
    if (!content.subarray(0, magic.length).equals(magic)) continue
    const inner = unpack(content)
    return [inner, ...unpacked(inner)]
  }
  return []
}

/** Searches the names and contents of all files below a folder, compressed contents too. */
export async function foundInFolder(
  canaries: readonly Canary[],
  folder: string,
): Promise<{ hits: string[]; files: string[] }> {
  const hits: string[] = []
  const files: string[] = []
  for (const path of await readdir(folder, { recursive: true })) {
    hits.push(...foundIn(canaries, `the name ${path}`, path))
    if (!(await lstat(join(folder, path))).isFile()) continue
    files.push(path)
    const content = await readFile(join(folder, path))
    const all = [content, ...unpacked(content)].flatMap((each) => foundIn(canaries, path, each))
    hits.push(...new Set(all))
  }
  return { hits, files }
}
