/** Builds the console: hashed files, each compressed beside itself, and a list of them for the server. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'vite'

const home = fileURLToPath(new URL('..', import.meta.url))
const dist = join(home, 'dist')
const packable = new Set(['.js', '.css', '.html', '.svg', '.json'])

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted()
}

const brotli = (bytes: Buffer): Promise<Buffer> =>
  promisify(brotliCompress)(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
const zip = (bytes: Buffer): Promise<Buffer> => promisify(gzip)(bytes, { level: 9 })

/** Bytes of a file: as it is, by gzip and by brotli. */
type FileSizes = { bytes: number; gzip?: number; brotli?: number }

async function pack(path: string): Promise<FileSizes> {
  const bytes = await readFile(path)
  if (!packable.has(extname(path))) return { bytes: bytes.length }
  const [zipped, small] = await Promise.all([zip(bytes), brotli(bytes)])
  await Promise.all([writeFile(`${path}.gz`, zipped), writeFile(`${path}.br`, small)])
  return { bytes: bytes.length, gzip: zipped.length, brotli: small.length }
}

/** A build takes the place of the last one at once: a server that runs finds the one or the other. */
async function replace(made: string): Promise<void> {
  const old = `${made}-old`
  await rename(dist, old).catch(() => {})
  await rename(made, dist)
  await rm(old, { recursive: true, force: true })
}

const begun = Date.now()
const made = join(home, `dist-${process.pid}`)
await mkdir(made, { recursive: true })
try {
  await build({
    configFile: join(home, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: made },
  })
  const found = await filesBelow(made)
  const sizes = await Promise.all(
    found.map(async (path): Promise<[string, FileSizes]> => [
      relative(made, path),
      await pack(path),
    ]),
  )
  await writeFile(join(made, 'files.json'), JSON.stringify(Object.fromEntries(sizes), null, 1))
  await replace(made)
  console.error(`steward: Built the console in ${((Date.now() - begun) / 1_000).toFixed(1)} s.`)
} finally {
  await rm(made, { recursive: true, force: true })
}
