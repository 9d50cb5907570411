/**
 * `npm run release`: makes everything of a version in `release/`, and publishes nothing: the workflow of the code host
 * does that, where there is an identity. The same commit gives the same bytes, but for the images, which hold packages of
 * Debian as they are on that day.
 */
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './house/sources.ts'
import { archiveImages } from './release/images.ts'
import { chartOf, checksumsOf, notesOf, offlineOf, packageOf, sbomOf } from './release/parts.ts'
import type { ReleaseContext } from './release/parts.ts'
import { commitTime, problemsOfCommit } from './release/source.ts'
import { otherVersions, readVersion, setVersion } from './release/versions.ts'

const usage = `Makes everything of the version that package.json names, in release/.

  npm run release -- --dry-run      of a commit that is no release: takes the part "Unreleased" of the changelog
  npm run release                   of a clean checkout whose commit bears the tag of the version
  npm run release -- --set 1.2.3    only writes another version into the files that name it

  --images      also the images, by Podman or Docker: both architectures where the builder can
  --whole       refuses where an architecture is missing
  --out FOLDER  in place of release/
`

const say = (text: string) => process.stderr.write(`release: ${text}\n`)

function stopWith(problems: readonly string[]): never {
  for (const each of problems) say(each)
  process.exit(1)
}

/** Removes what an earlier release has made there, and nothing else. */
async function emptyFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const names = await readdir(folder)
  const others = names.filter((name) => !/^(?:steward-|SHA256SUMS)/.test(name))
  if (others.length > 0)
    stopWith([`${folder} holds other files (${others[0]}): name another folder`])
  for (const name of names) await rm(join(folder, name), { recursive: true })
}

async function make(context: ReleaseContext, withImages: boolean): Promise<void> {
  await emptyFolder(context.out)
  say(`making version ${context.version} in ${context.out}`)
  const files = [
    await packageOf(context),
    await chartOf(context),
    await sbomOf(context),
    await notesOf(context),
  ]
  const images = withImages ? await archiveImages(context, files[0] ?? '', say) : []
  if (!withImages) say('no images: --images makes them')
  files.push(...images, await offlineOf(context, [...files, ...images]))
  const checksums = await checksumsOf(context, files)
  for (const file of [...files, checksums]) say(`made ${file}`)
  say('not signed: the workflow of the code host does that, by its identity')
}

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    images: { type: 'boolean', default: false },
    whole: { type: 'boolean', default: false },
    out: { type: 'string', default: 'release' },
    set: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) process.stdout.write(usage)
else if (values.set !== undefined) {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(values.set))
    stopWith([`${values.set} is no version such as 1.2.3`])
  setVersion(values.set)
} else {
  const version = readVersion()
  const isDry = values['dry-run']
  const problems = [...otherVersions(), ...(isDry ? [] : problemsOfCommit(version))]
  if (problems.length > 0) stopWith(problems)
  const out = resolve(root, values.out)
  await make(
    {
      ...{ version, out, heading: isDry ? 'Unreleased' : version, time: commitTime() },
      isWhole: values.whole,
    },
    values.images,
  )
}
