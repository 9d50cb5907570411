/** The licences of the packages that a build holds. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { z } from 'zod'
import { root } from '../house/sources.ts'

const Manifest = z.looseObject({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
})

/** Folders of packages, such as `node_modules/a/node_modules/@b/c`, that these files lie in. */
export function packagesOf(files: Iterable<string>): string[] {
  const folders = new Set<string>()
  for (const file of files) {
    const found = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]
    if (found !== undefined) folders.add(found)
  }
  return [...folders].toSorted()
}

export const inputsOf = (files: readonly Metafile[]): string[] =>
  files.flatMap(({ inputs }) => Object.keys(inputs).map((path) => path.replace(/^named:/, '')))

/** The files of a package, by its folder, that state its licence. */
export async function licenceFilesOf(folder: string): Promise<string[]> {
  const names = await readdir(join(root, folder))
  const own = names.filter((name) => /^(licen[cs]e|copying|notice)/i.test(name)).toSorted()
  return own.map((name) => join(folder, name))
}

async function licenceText(folder: string): Promise<string> {
  const files = await licenceFilesOf(folder)
  const texts = await Promise.all(files.map((path) => readFile(join(root, path), 'utf8')))
  return texts.map((text) => text.trim()).join('\n\n')
}

/** One part for each package: its name, version and licence, and the text where the package has one. */
export async function thirdPartyText(folders: readonly string[]): Promise<string> {
  const parts = await Promise.all(
    folders.map(async (folder) => {
      const path = join(root, folder, 'package.json')
      const manifest = Manifest.parse(JSON.parse(await readFile(path, 'utf8')))
      const text = await licenceText(folder)
      if (!manifest.license && !text) throw new Error(`${folder} names no licence`)
      const head = `## ${manifest.name} ${manifest.version}\n\nLicence: ${manifest.license ?? 'see below'}`
      return text ? `${head}\n\n\`\`\`text\n${text}\n\`\`\`` : head
    }),
  )
  return `# Packages that Steward holds\n\nEach keeps its own licence.\n\n${parts.join('\n\n')}\n`
}
