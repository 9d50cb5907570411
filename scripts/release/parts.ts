/** The files of a release. Each function writes one into `out`, and returns its name. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { z } from 'zod'
import { root } from '../house/sources.ts'
import { partOf } from './changelog.ts'

export type ReleaseContext = {
  version: string
  /** The folder of the files. */
  out: string
  /** The heading of the version's part in the changelog. */
  heading: string
  /** Of the commit, in seconds since the epoch. */
  time: number
  /** True: an image that is missing for an architecture fails the release. */
  isWhole: boolean
}

const execute = promisify(execFile)
const much = { maxBuffer: 64 << 20 }

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'steward-release-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Writes an archive that depends on names and bytes alone. */
async function archive(
  { time }: ReleaseContext,
  file: string,
  from: string,
  names: readonly string[],
): Promise<void> {
  const same = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner']
  const rights = '--mode=u=rwX,go=rX'
  const packed = file.endsWith('.tgz') ? ['--use-compress-program=gzip -n -9'] : []
  await execute('tar', [...same, rights, ...packed, '-C', from, '-cf', file, ...names], much)
}

export async function packageOf({ out, version }: ReleaseContext): Promise<string> {
  await execute('npm', ['pack', '--pack-destination', out], { cwd: root, ...much })
  return `steward-${version}.tgz`
}

export async function chartOf(context: ReleaseContext): Promise<string> {
  const name = `steward-chart-${context.version}.tgz`
  await withFolder(async (folder) => {
    await cp(join(root, 'deploy/helm'), join(folder, 'steward'), { recursive: true })
    await archive(context, join(context.out, name), folder, ['steward'])
  })
  return name
}

const Bill = z.looseObject({
  metadata: z.looseObject({}),
  components: z.array(
    z.looseObject({
      'bom-ref': z.string(),
      name: z.string(),
      version: z.string(),
      externalReferences: z.array(z.looseObject({ type: z.string() })).optional(),
    }),
  ),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
})

/** The packages that the build holds, as `name version`, by the list of their licences, and the one it installs. */
async function heldPackages(): Promise<Set<string>> {
  const text = await readFile(join(root, 'dist/THIRD-PARTY.md'), 'utf8')
  const { name, version } = await readRipgrep()
  return new Set([...(text.match(/(?<=^## ).+(?=\n\nLicence: )/gm) ?? []), `${name} ${version}`])
}

/**
 * What the package holds, as a software bill of materials: npm knows where each package comes from, and the build which
 * ones are in it. Serial number and time come from the commit; addresses of the registry that this machine asked are
 * left out.
 */
export async function sbomOf({ out, version, time }: ReleaseContext): Promise<string> {
  const { stdout } = await execute('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
    cwd: root,
    ...much,
  })
  const { components, metadata, dependencies, ...rest } = Bill.parse(JSON.parse(stdout))
  const held = await heldPackages()
  const kept = components.filter((each) => held.delete(`${each.name} ${each.version}`))
  if (held.size > 0) throw new Error(`npm sbom does not know ${[...held].join(', ')}`)
  const refs = new Set(kept.map((each) => each['bom-ref']))
  const bill = {
    ...rest,
    metadata: { ...metadata, timestamp: new Date(time * 1000).toISOString() },
    components: kept.map(({ externalReferences = [], ...component }) => ({
      ...component,
      externalReferences: externalReferences.filter(({ type }) => type !== 'distribution'),
    })),
    dependencies: dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({
        ref,
        dependsOn: dependsOn.filter((each) => refs.has(each)),
      })),
  }
  const name = `steward-${version}.cdx.json`
  const serialNumber = `urn:uuid:${serialOf(JSON.stringify({ ...bill, serialNumber: '' }))}`
  await writeFile(join(out, name), `${JSON.stringify({ ...bill, serialNumber }, null, 2)}\n`)
  return name
}

/** A UUID of version 8, made of a digest. */
function serialOf(text: string): string {
  const digest = createHash('sha256').update(text).digest('hex')
  const parts = [
    [0, 8],
    [8, 12],
    [12, 15],
    [15, 18],
    [18, 30],
  ].map((range) => digest.slice(...range))
  const [first, second, third, fourth, last] = parts
  return `${first}-${second}-8${third}-8${fourth}-${last}`
}

export async function notesOf({ out, version, heading }: ReleaseContext): Promise<string> {
  const name = `steward-${version}-notes.md`
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8')
  await writeFile(join(out, name), partOf(changelog, heading))
  return name
}

const Ripgrep = z.looseObject({
  name: z.string(),
  version: z.string(),
  optionalDependencies: z.record(z.string(), z.string()),
})

const readRipgrep = async () => {
  const manifest = join(root, 'node_modules/@vscode/ripgrep/package.json')
  return Ripgrep.parse(JSON.parse(await readFile(manifest, 'utf8')))
}

/** The programs that `npm install` of the package fetches, for the platforms of the sandbox daemon. */
async function packRipgrep(folder: string): Promise<void> {
  const { optionalDependencies, version } = await readRipgrep()
  const platforms = ['linux-x64', 'linux-arm64'].map((platform) => `@vscode/ripgrep-${platform}`)
  const wanted = platforms.map((name) => `${name}@${optionalDependencies[name] ?? ''}`)
  const all = [`@vscode/ripgrep@${version}`, ...wanted]
  const words = ['pack', '--pack-destination', folder, '--prefer-offline', '--fetch-retries', '1']
  // The registry may have a certificate of an authority that this machine trusts, and Node by itself does not.
  const env = { ...process.env, NODE_USE_SYSTEM_CA: '1' }
  await execute('npm', [...words, ...all], { cwd: folder, env, ...much })
}

const offlineText = (version: string) => `# Steward ${version} without the internet

- Package: \`npm install ./npm/*.tgz ./steward-${version}.tgz\` on a machine with Node 24.
- Images: \`podman load --input FILE\` for each \`steward-${version}-*.tar\`, where this archive has them.
- Kubernetes: \`helm install steward ./steward-chart-${version}.tgz\`, with the images in a registry of yours.
- Sandboxes: the image of that name is for \`SANDBOX_PROVIDER=docker\` and \`podman\`. A root folder for bubblewrap: \`mmdebstrap --variant=minbase trixie FOLDER\` from a mirror of yours; docs/sandboxes.md says more.
- Documentation: docs/, and on the running server at /docs/.
- Whole files: \`sha256sum --check SHA256SUMS\`.
`

/** Everything in one archive, for networks without the internet. */
export async function offlineOf(
  context: ReleaseContext,
  files: readonly string[],
): Promise<string> {
  const { out, version } = context
  const top = `steward-${version}`
  const name = `${top}-offline.tar`
  await withFolder(async (folder) => {
    const own = join(folder, top)
    await mkdir(join(own, 'npm'), { recursive: true })
    await packRipgrep(join(own, 'npm'))
    for (const file of files) await cp(join(out, file), join(own, file))
    await cp(join(root, 'docs'), join(own, 'docs'), { recursive: true })
    await cp(join(root, 'deploy'), join(own, 'deploy'), { recursive: true })
    await writeFile(join(own, 'README.md'), offlineText(version))
    await writeSums(own, await allFilesIn(own))
    await archive(context, join(out, name), folder, [top])
  })
  return name
}

const allFilesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .toSorted()

async function sumOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

async function writeSums(folder: string, files: readonly string[]): Promise<string> {
  const lines = await Promise.all(
    files.map(async (file) => `${await sumOf(join(folder, file))}  ${file}\n`),
  )
  await writeFile(join(folder, 'SHA256SUMS'), lines.join(''))
  return 'SHA256SUMS'
}

export const checksumsOf = ({ out }: ReleaseContext, files: readonly string[]): Promise<string> =>
  writeSums(out, files)
