/**
 * What `npm run build` made of packages/console. Nothing is read before the first request, and little is kept: a newer
 * build is served as soon as it is there.
 */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const Files = z.record(z.string(), z.object({ brotli: z.number().optional() }))

export type ConsoleFile = { bytes: Buffer; encoding: 'br' | 'gzip' | undefined }

export type ConsoleBuild = {
  /** The page that holds the console, without what differs between servers; undefined without a build. */
  shell(): Promise<string | undefined>
  /** A hashed file in a form that the caller accepts; undefined for one that this build has not. */
  file(name: string, acceptEncoding: string): Promise<ConsoleFile | undefined>
}

type OpenedBuild = { madeAt: number; files: z.infer<typeof Files>; shell: string }

export function consoleBuild(folder: string): ConsoleBuild {
  let opened: OpenedBuild | undefined

  async function open(): Promise<OpenedBuild | undefined> {
    const list = join(folder, 'files.json')
    const found = await stat(list).catch(() => undefined)
    if (found === undefined) return undefined
    if (opened?.madeAt === found.mtimeMs) return opened
    const [files, shell] = await Promise.all([
      readFile(list, 'utf8'),
      readFile(join(folder, 'index.html'), 'utf8'),
    ])
    opened = { madeAt: found.mtimeMs, files: Files.parse(JSON.parse(files)), shell }
    return opened
  }

  /** Undefined where a newer build has just taken the place of this one. */
  const read = (name: string): Promise<Buffer | undefined> =>
    readFile(join(folder, name)).catch(() => undefined)

  return {
    async shell() {
      return (await open())?.shell
    },
    async file(name, acceptEncoding) {
      const known = (await open())?.files[name]
      if (known === undefined) return undefined
      const packed = known.brotli !== undefined
      if (packed && /\bbr\b/.test(acceptEncoding)) {
        const bytes = await read(`${name}.br`)
        return bytes && { bytes, encoding: 'br' }
      }
      if (packed && /\bgzip\b/.test(acceptEncoding)) {
        const bytes = await read(`${name}.gz`)
        return bytes && { bytes, encoding: 'gzip' }
      }
      const bytes = await read(name)
      return bytes && { bytes, encoding: undefined }
    },
  }
}
