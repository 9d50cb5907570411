/** The files of a release. Each function writes one into `out`, and returns its name. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
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
    z.looseObject({ externalReferences: z.array(z.looseObject({ type: z.string() })).optional() }),
  ),
})

/**
 * What the package holds, as a software bill of materials. Its serial number and time come from the commit; addresses
 * of the registry that this machine asked are left out.
 */
export async function sbomOf({ out, version, time }: ReleaseContext): Promise<string> {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev']
  const { stdout } = await execute('npm', words, { cwd: root, ...much })
  const { components, metadata, ...rest } = Bill.parse(JSON.parse(stdout))
  const bill = {
    ...rest,
    metadata: { ...metadata, timestamp: new Date(time * 1000).toISOString() },
    components: components.map(({ externalReferences = [], ...component }) => ({
      ...component,
      externalReferences: externalReferences.filter(({ type }) => type !== 'distribution'),
    })),
  }
  const digest = createHash('sha256')
    .update(JSON.stringify({ ...bill, serialNumber: '' }))
    .digest('hex')
  const serialNumber = `urn:uuid:${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-a${digest.slice(17, 20)}-${digest.slice(20, 32)}`
  const name = `steward-${version}.cdx.json`
  await writeFile(join(out, name), `${JSON.stringify({ ...bill, serialNumber }, null, 2)}\n`)
  return name
}

export async function notesOf({ out, version, heading }: ReleaseContext): Promise<string> {
  const name = `steward-${version}-notes.md`
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8')
  await writeFile(join(out, name), partOf(changelog, heading))
  return name
}

const Ripgrep = z.looseObject({ optionalDependencies: z.record(z.string(), z.string()) })

/** The programs that `npm install` of the package fetches, for the platforms of the sandbox daemon. */
async function packRipgrep(folder: string): Promise<void> {
  const manifest = join(root, 'node_modules/@vscode/ripgrep/package.json')
  const { optionalDependencies, version } = Ripgrep.parse(
    JSON.parse(await readFile(manifest, 'utf8')),
  )
  const platforms = ['linux-x64', 'linux-arm64'].map((platform) => `@vscode/ripgrep-${platform}`)
  const wanted = platforms.map((name) => `${name}@${optionalDependencies[name] ?? ''}`)
  const all = [`@vscode/ripgrep@${String(version)}`, ...wanted]
  await execute('npm', ['pack', '--pack-destination', folder, ...all], { cwd: folder, ...much })
}

const offlineText = (version: string) => `# Steward ${version} without the internet

- Package: \`npm install ./npm/*.tgz ./steward-${version}.tgz\` on a machine with Node 24.
- Images: \`podman load --input FILE\` for each \`steward-${version}-*.tar\`, where this archive has them.
- Kubernetes: \`helm install steward ./steward-chart-${version}.tgz\`, with the images in a registry of yours.
- A system for sandboxes: \`mmdebstrap --variant=minbase trixie FOLDER\` from a mirror of yours; docs/sandboxes.md says more.
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
    await writeSums(own, files)
    await archive(context, join(folder, name), folder, [top])
    await rename(join(folder, name), join(out, name)).catch(() =>
      cp(join(folder, name), join(out, name)),
    )
  })
  return name
}

async function sumOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

async function writeSums(folder: string, files: readonly string[]): Promise<string> {
  const lines = await Promise.all(
    files.map(async (file) => `${await sumOf(join(folder, file))}  ${basename(file)}\n`),
  )
  await writeFile(join(folder, 'SHA256SUMS'), lines.join(''))
  return 'SHA256SUMS'
}

export const checksumsOf = ({ out }: ReleaseContext, files: readonly string[]): Promise<string> =>
  writeSums(out, files)
