/**
 * Archives of skills. Uploaded archives are untrusted; our own are written deterministically. The libraries are loaded
 * at the first archive, not at the start.
 */
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { crc32, deflateRaw } from 'node:zlib'
import { isUtf8 } from 'node:buffer'
import type { ZipInputFile } from 'fflate'
import type { Entry, ZipFile } from 'yauzl'
import { invalid, PlatformError } from '../../ground/core/errors.ts'
import type { BundleFile } from './bundle.ts'
import {
  bundleTooLarge,
  checkPath,
  isLitter,
  largestBundle,
  mostFiles,
  tooManyFiles,
} from './bundle.ts'

const deflated: (bytes: Uint8Array) => Promise<Buffer<ArrayBuffer>> = promisify(deflateRaw)

/** Text shrinks to about a tenth. A file that shrinks to less than a hundredth is an attack, unless it is small. */
const mostRatio = 100
const anyRatioBelow = 64 * 1024
/** Folders are entries too. */
const mostEntries = 4 * mostFiles

export const isZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5)

/** Reads an uploaded archive. No file is unpacked before all entries are checked. Throws when an entry is refused. */
export async function readZip(archive: Buffer): Promise<BundleFile[]> {
  try {
    const zip = await opened(archive)
    const entries = await entriesOf(zip, checkEntry)
    checkSizes(entries)
    return await filesIn(zip, entries)
  } catch (cause) {
    if (cause instanceof PlatformError) throw cause
    const message = cause instanceof Error ? cause.message : String(cause)
    throw Object.assign(invalid(`file: the archive cannot be read: ${message}`), { cause })
  }
}

/** Reads an archive that was written here: the wanted files, relative to its folder. */
export async function readPackedFiles(
  archive: Buffer,
  isWanted: (path: string) => boolean = () => true,
): Promise<BundleFile[]> {
  const zip = await opened(archive)
  const below = (path: string) => path.slice(path.indexOf('/') + 1)
  const entries = await entriesOf(zip, () => {})
  const files = await filesIn(
    zip,
    entries.filter(({ fileName }) => isWanted(below(fileName))),
  )
  return files.map((file) => ({ ...file, path: below(file.path) }))
}

async function filesIn(zip: ZipFile, entries: readonly Entry[]): Promise<BundleFile[]> {
  const files: BundleFile[] = []
  for (const entry of entries) {
    if (entry.fileName.endsWith('/')) continue
    const bytes = await bytesOf(zip, entry)
    if (crc32(bytes) !== entry.crc32) throw new Error(`${entry.fileName} is damaged`)
    files.push({ path: entry.fileName, bytes, executable: isExecutable(entry) })
  }
  return files
}

async function opened(archive: Buffer): Promise<ZipFile> {
  const { fromBuffer } = await import('yauzl')
  return new Promise((resolve, reject) => {
    // Windows writes names with backslashes; these become slashes here.
    const options = { lazyEntries: true, strictFileNames: false, validateEntrySizes: true }
    fromBuffer(archive, options, (error, zip) => (error ? reject(error) : resolve(zip)))
  })
}

function entriesOf(zip: ZipFile, check: (entry: Entry) => void): Promise<Entry[]> {
  if (zip.entryCount > mostEntries) throw tooManyFiles()
  const entries: Entry[] = []
  return new Promise((resolve, reject) => {
    zip
      .on('entry', (entry: Entry) => {
        try {
          entry.fileName = nameOf(entry)
          if (!isLitter(entry.fileName)) {
            check(entry)
            entries.push(entry)
          }
          zip.readEntry()
        } catch (error) {
          reject(error)
        }
      })
      .once('end', () => resolve(entries))
      .once('error', reject)
      .readEntry()
  })
}

const isMarkedUtf8 = 0x800
const unicodePath = 0x7075

/** The name that is meant: some archivers write UTF-8 without saying so, and `./` before all names. */
function nameOf(entry: Entry): string {
  const { fileName, generalPurposeBitFlag, extraFields } = entry
  const isSaid =
    (generalPurposeBitFlag & isMarkedUtf8) !== 0 || extraFields.some(({ id }) => id === unicodePath)
  // The types of the library do not know it.
  const given = 'fileNameRaw' in entry ? entry.fileNameRaw : undefined
  const raw = given instanceof Uint8Array ? Buffer.from(given) : undefined
  const name =
    isSaid || !raw || !isUtf8(raw) ? fileName : raw.toString('utf8').replaceAll('\\', '/')
  return name.replace(/^(\.\/)+(?=.)/, '')
}

const typeBits = 0o170000
const unix = 3

/** The Unix mode; 0 when the archive has none. */
const modeOf = ({ versionMadeBy, externalFileAttributes }: Entry): number =>
  versionMadeBy >> 8 === unix ? externalFileAttributes >>> 16 : 0

const isExecutable = (entry: Entry): boolean => (modeOf(entry) & 0o111) !== 0

function checkEntry(entry: Entry): void {
  const isFolder = entry.fileName.endsWith('/')
  const path = checkPath(isFolder ? entry.fileName.slice(0, -1) : entry.fileName)
  if (entry.isEncrypted()) throw invalid(`file: ${path}: is encrypted`)
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
    throw invalid(`file: ${path}: is packed in a way that is not supported`)
  const type = modeOf(entry) & typeBits
  if (type !== 0 && type !== (isFolder ? 0o040000 : 0o100000))
    throw invalid(`file: ${path}: is a link or a device, and only files and folders are taken`)
  if (isFolder && entry.uncompressedSize > 0) throw invalid(`file: ${path}: is a folder with bytes`)
}

/** Checks the sizes that the archive claims. Unpacking stops at a file that is larger than claimed. */
function checkSizes(entries: readonly Entry[]): void {
  if (entries.filter(({ fileName }) => !fileName.endsWith('/')).length > mostFiles)
    throw tooManyFiles()
  let total = 0
  for (const { fileName, compressedSize, uncompressedSize } of entries) {
    total += uncompressedSize
    if (total > largestBundle) throw bundleTooLarge()
    if (uncompressedSize > anyRatioBelow && uncompressedSize > mostRatio * compressedSize)
      throw invalid(`file: ${fileName}: would grow more than ${mostRatio} times its packed size`)
  }
}

async function bytesOf(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Readable>()
  zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)))
  const chunks: Buffer[] = []
  for await (const chunk of await promise) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** A fixed time, so that the same files give the same archive. */
const packedAt = new Date(1980, 0, 1)

/** Packs the files into one folder of this name. */
export async function packZip({
  name,
  files,
}: {
  name: string
  files: readonly BundleFile[]
}): Promise<Buffer> {
  const { Zip } = await import('fflate')
  const chunks: Uint8Array[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const zip = new Zip((error, chunk, isLast) => {
    if (error) return reject(error)
    chunks.push(chunk)
    if (isLast) resolve()
  })
  for (const { path, bytes, executable } of files) {
    const packed = await deflated(bytes)
    const mode = 0o100000 | (executable ? 0o755 : 0o644)
    const file: ZipInputFile = {
      filename: `${name}/${path}`,
      size: bytes.byteLength,
      crc: crc32(bytes),
      compression: 8,
      mtime: packedAt,
      os: unix,
      attrs: (mode << 16) >>> 0,
    }
    zip.add(file)
    file.ondata?.(null, packed, true)
  }
  zip.end()
  await promise
  return Buffer.concat(chunks)
}
