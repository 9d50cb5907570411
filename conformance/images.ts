/**
 * The images of `deploy/Containerfile`, built by Podman from this checkout's package. The images that they begin with
 * come from no registry: Debian is made here of its packages, and Node with npm are those of this machine.
 */
import type { ChildProcess } from 'node:child_process'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runPacking } from './packing.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const execute = promisify(execFile)
const output = { maxBuffer: 64 << 20 }

const settings = `[containers]
default_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
`

/** The flags with which a container may make sandboxes; docs/containers.md names them. */
export const sandboxFlags = [
  ...['--security-opt', `seccomp=${join(root, 'deploy/seccomp.json')}`],
  ...['--security-opt', 'unmask=ALL'],
]

/** How the images are meant to run. */
const closedFlags = [
  ...['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL'],
  ...['--security-opt', 'no-new-privileges', '--network', 'host'],
]

export type RunningContainer = {
  /** All output so far. */
  said: () => string
  /** Resolves when the output matches. */
  until: (pattern: RegExp) => Promise<void>
  /** Runs a program in the container, and resolves with what it wrote. */
  exec: (...words: string[]) => Promise<string>
  /** Sends the signal, and resolves with the exit code. */
  stop: (signal?: 'TERM' | 'KILL') => Promise<number | null>
}

export type ImageEngine = AsyncDisposable & {
  podman: (...words: string[]) => Promise<string>
  build: (target: 'server' | 'worker') => Promise<string>
  /** Starts a container of the image with these variables, closed as `closedFlags` say. */
  run: (
    image: string,
    options: { env: Record<string, string>; flags?: readonly string[]; words?: readonly string[] },
  ) => RunningContainer
}

function checkPrograms(): void {
  for (const [program, packages] of [
    ['podman', 'podman runc'],
    ['debootstrap', 'debootstrap'],
  ] as const)
    if (spawnSync(program, ['--version']).error)
      throw new Error(`no ${program} on this machine: apt-get install ${packages}`)
}

/** The archive and the release that this machine's own packages come from. */
async function debianSource(): Promise<[release: string, archive: string]> {
  const release = await execute('sh', ['-c', '. /etc/os-release; echo "$VERSION_CODENAME"'])
  const targets = ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages']
  const archive = (await execute('apt-get', targets)).stdout.split('\n')[0]
  if (!archive) throw new Error('apt-get names no archive of Debian on this machine')
  return [release.stdout.trim(), archive]
}

const nodeImage = `FROM localhost/steward-debian
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY certificates.pem /etc/certificates.pem
COPY npmrc /root/.npmrc
ENV NODE_EXTRA_CA_CERTS=/etc/certificates.pem
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
`

async function npmFolder(): Promise<string> {
  const { stdout } = await execute('sh', ['-c', 'command -v npm'])
  return join(await realpath(stdout.trim()), '../..')
}

export async function imageEngine(): Promise<ImageEngine> {
  checkPrograms()
  // Images are large, and the folder for temporary files may be memory.
  const folder = await mkdtemp('/var/tmp/steward-images-')
  const configuration = join(folder, 'containers.conf')
  await writeFile(configuration, settings)
  const own = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run')]
  const env = { ...process.env, CONTAINERS_CONF: configuration }
  const podman = async (...words: string[]): Promise<string> =>
    (await execute('podman', [...own, ...words], { cwd: root, env, ...output })).stdout.trim()
  const running = new Set<ChildProcess>()

  async function makeBases(): Promise<void> {
    const [release, archive] = await debianSource()
    const debian = join(folder, 'debian')
    await execute('debootstrap', ['--variant=minbase', release, debian, archive], output)
    await execute('tar', ['-C', debian, '-cf', join(folder, 'debian.tar'), '.'])
    await rm(debian, { recursive: true })
    await podman('import', '--quiet', join(folder, 'debian.tar'), 'localhost/steward-debian')
    await rm(join(folder, 'debian.tar'))
    const parts = join(folder, 'node')
    await mkdir(parts)
    await cp(await realpath(process.execPath), join(parts, 'node'))
    await cp(await npmFolder(), join(parts, 'npm'), { recursive: true })
    const certificates = process.env['NODE_EXTRA_CA_CERTS'] ?? '/etc/ssl/certs/ca-certificates.crt'
    await cp(await realpath(certificates), join(parts, 'certificates.pem'))
    const { stdout } = await execute('npm', ['config', 'get', 'registry'])
    await writeFile(join(parts, 'npmrc'), `registry=${stdout.trim()}\n`)
    await writeFile(join(folder, 'Containerfile'), nodeImage)
    const named = ['--file', join(folder, 'Containerfile'), '--tag', 'localhost/steward-node']
    await podman('build', '--quiet', ...named, parts)
  }

  async function pack(): Promise<string> {
    const made = join(folder, 'package')
    await mkdir(made)
    await runPacking(['pack', '--pack-destination', made])
    return made
  }

  async function end(): Promise<void> {
    for (const each of running) each.kill('SIGKILL')
    await podman('rm', '--all', '--force', '--volumes')
    await podman('rmi', '--all', '--force')
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }

  try {
    await makeBases()
    const given = await pack()
    return {
      podman,
      async build(target) {
        const image = `localhost/steward-${target}`
        const from = ['NODE_IMAGE=localhost/steward-node', 'DEBIAN_IMAGE=localhost/steward-debian']
        await podman(
          ...['build', '--quiet', '--format', 'docker', '--network', 'host', '--target', target],
          ...from.flatMap((each) => ['--build-arg', each]),
          ...['--build-context', `package=${given}`, '--file', 'deploy/Containerfile'],
          ...['--tag', image, '.'],
        )
        return image
      },
      run(image, { env: variables, flags = [], words = [] }) {
        const name = `steward-${running.size}`
        const given = Object.entries(variables).flatMap(([key, value]) => [
          '--env',
          `${key}=${value}`,
        ])
        const all = [
          ...own,
          'run',
          '--name',
          name,
          ...closedFlags,
          ...flags,
          ...given,
          image,
          ...words,
        ]
        const child = spawn('podman', all, { env, stdio: ['ignore', 'pipe', 'pipe'] })
        running.add(child)
        return containerOf(child, {
          exec: (...program) => podman('exec', name, ...program),
          stop: (signal) => podman('kill', '--signal', signal, name),
        })
      },
      [Symbol.asyncDispose]: end,
    }
  } catch (error) {
    await end()
    throw error
  }
}

type ContainerActs = {
  exec: (...words: string[]) => Promise<string>
  stop: (signal: string) => Promise<unknown>
}

function containerOf(child: ChildProcess, { exec, stop }: ContainerActs): RunningContainer {
  const ended = once(child, 'close') as Promise<[number | null]>
  let text = ''
  let look = () => {}
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      look()
    })
  return {
    exec,
    said: () => text,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        look = () => {
          if (pattern.test(text)) resolve()
        }
        child.once('close', () => reject(new Error(`the container ended: ${text}`)))
        look()
      }),
    async stop(signal = 'TERM') {
      await stop(signal)
      return (await ended)[0]
    },
  }
}
