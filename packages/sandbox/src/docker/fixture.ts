/** For tests: container engines. Each test file starts its own, with an image made of this machine's packages. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { processesHolding, until } from '../fixture.ts'
import { engineAt } from './engine.ts'

export type EngineKind = 'docker' | 'podman'

export const testImage = 'steward-test'
/** Variables of the engine's own process; Podman would pass one of them on. */
export const engineSecret = 'secret-of-the-engine'
const machineSocket = '/run/docker.sock'
const isRoot = process.getuid?.() === 0

/** Hard limits that a machine like this may not raise. */
const limits = { nofile: '20000:20000', nproc: '4096:4096' }

const ulimits = Object.entries(limits).map(([name, value]) => `${name}=${value}`)

const podmanSettings = `[containers]
default_ulimits = ${JSON.stringify(ulimits)}
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
`

/** Registries of the tests, on loopback and without a certificate. */
const podmanRegistries = (registry: string) => `[[registry]]
location = "${registry}"
insecure = true
`

type EngineProgram = {
  packages: string
  command: string
  args: string[]
  env?: Record<string, string>
}

type EnginePaths = { folder: string; socket: string; registry: string }

function podman({ folder, socket, registry }: EnginePaths): EngineProgram {
  const settings = join(folder, 'containers.conf')
  const registries = join(folder, 'registries.conf')
  writeFileSync(settings, podmanSettings)
  writeFileSync(registries, podmanRegistries(registry))
  const folders = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run')]
  return {
    packages: 'podman runc',
    command: 'podman',
    args: [...folders, 'system', 'service', '--time=0', `unix://${socket}`],
    env: { CONTAINERS_CONF: settings, CONTAINERS_REGISTRIES_CONF: registries },
  }
}

function docker({ folder, socket }: EnginePaths): EngineProgram {
  const folders = ['--data-root', join(folder, 'root'), '--exec-root', join(folder, 'run')]
  const network = ['--iptables=false', '--ip6tables=false', '--bridge=none']
  return {
    packages: 'docker.io',
    command: 'dockerd',
    args: [
      ...['-H', `unix://${socket}`, '-p', join(folder, 'pid'), ...folders, ...network],
      ...ulimits.flatMap((limit) => ['--default-ulimit', limit]),
    ],
  }
}

const programs = { docker, podman }

/**
 * The socket of an engine: of the tests' own engine, or of the machine's Docker when this user may not start an engine.
 */
export function engineSetup(kind: EngineKind): { isOurs: boolean; folder: string; socket: string } {
  const folder = join(tmpdir(), `steward-${kind}-${randomUUID().slice(0, 8)}`)
  const isOurs = isRoot || kind === 'podman'
  return { isOurs, folder, socket: isOurs ? join(folder, 'engine.sock') : machineSocket }
}

/**
 * Resolves when the engine has the tests' image. `registry`: address of a registry that it may use. `more`: further
 * packages of this machine for the image.
 */
export async function startEngine(
  kind: EngineKind,
  { isOurs, folder, socket }: ReturnType<typeof engineSetup>,
  registry: string,
  more: readonly string[] = [],
): Promise<{ stop(): Promise<void> }> {
  mkdirSync(folder, { mode: 0o711 })
  const stop = isOurs
    ? await run(programs[kind]({ folder, socket, registry }), folder, socket)
    : undefined
  const end = async () => {
    await stop?.()
    // Files that a rootless engine unpacks belong to users that only the engine can become.
    if (isOurs && !isRoot) spawnSync('podman', ['unshare', 'rm', '-rf', folder])
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
  await loadImage(socket, join(folder, 'image.tar'), more).catch(async (error: unknown) => {
    await end()
    throw error
  })
  return { stop: end }
}

async function run(
  { packages, command, args, env }: EngineProgram,
  folder: string,
  socket: string,
) {
  if (spawnSync(command, ['--version']).error)
    throw new Error(`no ${command} on this machine: apt-get install ${packages}`)
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', command, ...args], {
    env: { ...process.env, ...env, FTP_PROXY: engineSecret, SECRET: engineSecret },
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr
    .setEncoding('utf8')
    .on('data', (piece: string) => (said = (said + piece).slice(-4_000)))
  const gone = once(child, 'exit')
  const engine = engineAt(socket)
  const deadline = performance.now() + 40_000
  const answers = () =>
    engine.call('GET', '/info').then(
      () => true,
      () => false,
    )
  while (!(await answers())) {
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`${command} does not start: ${said}`)
    await delay(20)
  }
  return async () => {
    child.kill('SIGTERM')
    await gone
    // The processes that remove the last containers would mount the engine's folders again.
    await until('nothing of it runs', () => processesHolding('cmdline', folder).length === 0)
    for (const path of mountsBelow(folder)) spawnSync('umount', ['--lazy', path])
  }
}

const mountsBelow = (folder: string): string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((path) => path.startsWith(`${folder}/`))
    .toReversed()

/** Packages of the tests' commands. */
const packages = [
  ...['base-files', 'bash', 'coreutils', 'findutils', 'grep', 'gzip', 'hostname', 'libc-bin'],
  ...['mawk', 'perl-base', 'procps', 'sed', 'tar', 'util-linux'],
]
const leftOut = /^\/(root|var|etc\/ssl\/private)|\/usr\/share\/|\/gconv\/|\.distrib$/
const merged = /^\/(bin|sbin|lib|lib32|lib64)\//

const dpkgQuery = (...args: string[]): string =>
  spawnSync('dpkg-query', args, { encoding: 'utf8', maxBuffer: 64 << 20 }).stdout

/**
 * These packages and their dependencies, as installed here. Throws an error with the install command when one is
 * missing.
 */
function withDependencies(names: readonly string[]): string[] {
  const format = '--showformat=${Package}\t${Pre-Depends}, ${Depends}\n'
  const lines = dpkgQuery('--show', format).split('\n')
  const installed = new Map(lines.map((line) => line.split('\t') as [string, string]))
  const missing = names.filter((name) => !installed.has(name))
  if (missing.length > 0) throw new Error(`to do first: apt-get install ${missing.join(' ')}`)
  const found = new Set(names)
  for (const name of found)
    for (const [needed = ''] of (installed.get(name) ?? '').matchAll(
      /(?<=^|[,|] ?)[a-z0-9][^\s:,|]+/g,
    ))
      if (installed.has(needed)) found.add(needed)
  return [...found]
}

function listFiles(names: readonly string[]): string {
  const stdout = dpkgQuery('--listfiles', ...withDependencies(names))
  const paths = stdout.split('\n').filter((path) => /^\/[^.]/.test(path) && !leftOut.test(path))
  const found = new Set(paths.map((path) => path.replace(merged, '/usr/$1/').slice(1)))
  return [...found].toSorted().join('\n')
}

/** Loads the packages, as installed here, as the one layer of an image. */
async function loadImage(socket: string, archive: string, more: readonly string[]): Promise<void> {
  const args = ['-c', '-C', '/', '--no-recursion', '-f', archive, '-T', '-']
  execFileSync('tar', args, { input: listFiles([...packages, ...more]) })
  const changes = [
    'ENV OF_THE_IMAGE=yes',
    'ENV PATH=/of/the/image:/usr/bin',
    'VOLUME /kept /etc/skel/',
  ]
  const change = changes.map((each) => `&changes=${encodeURIComponent(each)}`).join('')
  const path = `/images/create?fromSrc=-&repo=${testImage}&tag=latest${change}`
  const asked = request({
    socketPath: socket,
    method: 'POST',
    path,
    headers: { 'content-type': 'application/x-tar' },
  })
  const answered = once(asked, 'response')
  await pipeline(createReadStream(archive), asked)
  const [answer] = (await answered) as [IncomingMessage]
  const said = await text(answer)
  if (answer.statusCode !== 200 || said.includes('"error"'))
    throw new Error(`the image is not taken: ${said}`)
  rmSync(archive)
}
