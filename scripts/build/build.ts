/**
 * Makes `dist/`, which is what people install: the programs in `code/`, and beside it the files that they read, each at
 * its path in the repository.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { filesOfRoot } from '@steward/server/surfaces/docs/addresses.ts'
import { z } from 'zod'
import { root } from '../house/sources.ts'
import { bundle, fromRoot } from './bundle.ts'
import { isBundled, programs } from './programs.ts'
import { inputsOf, licenceFilesOf, packagesOf, thirdPartyText } from './third-party.ts'

/** Is mounted into sandboxes, and therefore one file. */
const official = { 'official-worker': 'packages/worker/src/ama/main.ts' }

/** Files and folders that the programs read. */
const assets = [
  'deploy/compose',
  'docs',
  ...filesOfRoot,
  'packages/console/dist',
  'packages/console/src/styles/tokens.css',
  'packages/sandbox/src/bubblewrap/etc',
  'packages/sandbox/src/daemon/bin',
  'packages/skills/src/programs',
  'packages/worker/src/harness/stdio/carry.sh',
  'deploy/seccomp.json',
]
/** npm packs no folder of this name. */
const shipped = (path: string): string => path.replaceAll('node_modules/', 'libraries/')

/** Files of packages that a source names by `import.meta.resolve`. */
const packageFiles = new Set<string>()

/** Bundled code lies in `code/`. */
function urlOf(path: string): string {
  const own = fromRoot(path)
  if (own.startsWith('node_modules/')) packageFiles.add(own)
  return `new URL(${JSON.stringify(`../${shipped(own)}`)}, import.meta.outputUrl).href`
}

const Manifest = z.looseObject({ version: z.string() })

function commitOf(): { commit: string; date: string } | undefined {
  // An archive of the sources may lie in a repository of somebody else.
  if (!existsSync(join(root, '.git'))) return undefined
  try {
    const args = ['log', '-1', '--format=%h %cs']
    const [commit, date] = execFileSync('git', args, { cwd: root, encoding: 'utf8' })
      .trim()
      .split(' ')
    return commit && date ? { commit, date } : undefined
  } catch {
    // An archive of the sources has no history.
    return undefined
  }
}

const write = async (folder: string, path: string, text: string): Promise<void> => {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

async function buildInto(folder: string): Promise<void> {
  const options = {
    folder: join(folder, 'code'),
    isBundled,
    urlOf,
    define: { STEWARD_IS_BUILT: 'true' },
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: 'linked',
    sourcesContent: false,
  } as const
  const made = [
    await bundle({ ...options, entries: programs, others: official }),
    await bundle({ ...options, entries: official, isAlone: true }),
  ]
  // Built-in skills show the licences of their libraries.
  const licences = await Promise.all(packagesOf(packageFiles).map(licenceFilesOf))
  for (const path of [...assets, ...packageFiles, ...licences.flat()])
    await cp(join(root, path), join(folder, shipped(path)), {
      recursive: true,
      filter: (source) => !/\.test\.|fixture/.test(relative(root, source)),
    })
  const { version } = Manifest.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
  const versionText = JSON.stringify({ version, ...commitOf() })
  await write(folder, 'packages/server/package.json', versionText)
  // The console is found by its manifest.
  await write(folder, 'packages/console/package.json', JSON.stringify({ version }))
  const packages = packagesOf([...inputsOf(made), ...packageFiles])
  await write(folder, 'THIRD-PARTY.md', await thirdPartyText(packages))
  await cp(join(import.meta.dirname, 'steward.cjs'), join(folder, 'bin/steward.cjs'))
}

const begun = Date.now()
const dist = join(root, 'dist')
const made = join(root, `dist-${process.pid}`)
try {
  await buildInto(made)
  // A program that runs from the old build has its files open, and loads no further ones after a change of all.
  await rm(dist, { recursive: true, force: true })
  await rename(made, dist)
  console.error(`steward: Built dist/ in ${((Date.now() - begun) / 1_000).toFixed(1)} s.`)
} finally {
  await rm(made, { recursive: true, force: true })
}
