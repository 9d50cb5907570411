/** For tests: a NATS server of Debian's packages, with a password. */
import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { freePort } from '../direct/fixture.ts'

export type NatsServer = AsyncDisposable & {
  url: string
  password: string
  /** Ends it as a lost machine would, and starts it again at the same place. */
  kill(): Promise<void>
  start(): Promise<void>
  pause(): void
  resume(): void
}

export async function natsServer(password = 'password of nats'): Promise<NatsServer> {
  if (spawnSync('nats-server', ['--version']).error)
    throw new Error('nats-server is missing: apt-get install nats-server')
  const port = await freePort()
  let server: ChildProcess
  async function start(): Promise<void> {
    const place = ['--addr', '127.0.0.1', '--port', String(port)]
    const program = ['nats-server', ...place, '--user', 'steward', '--pass', password]
    // It ends with this process.
    server = spawn('setpriv', ['--pdeathsig', 'KILL', ...program], { stdio: 'ignore' })
    await answer(port)
  }
  async function kill(): Promise<void> {
    const ended = once(server, 'close')
    server.kill('SIGKILL')
    await ended
  }
  await start()
  return {
    url: `nats://steward:${encodeURIComponent(password)}@127.0.0.1:${port}`,
    password,
    kill,
    start,
    pause: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    [Symbol.asyncDispose]: kill,
  }
}

/** Resolves when the port answers. */
async function answer(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('data', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    socket.destroy()
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
