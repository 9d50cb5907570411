/** For tests: a NATS server of Debian's packages. */
import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { freePort } from '../direct/fixture.ts'

export type NatsServer = AsyncDisposable & {
  url: string
  password: string
  /** Kills the server, like a lost machine. `start` starts it again at the same address. */
  kill(): Promise<void>
  start(): Promise<void>
  pause(): void
  resume(): void
}

type NatsServerOptions = {
  password?: string
  /** A token that replaces name and password. */
  token?: string
  /** A file with the certificate and its key. */
  certificate?: string
}

export async function natsServer({
  password = 'password of nats',
  token,
  certificate,
}: NatsServerOptions = {}): Promise<NatsServer> {
  if (spawnSync('nats-server', ['--version']).error)
    throw new Error('nats-server is missing: apt-get install nats-server')
  const port = await freePort()
  const account = token ? ['--auth', token] : ['--user', 'steward', '--pass', password]
  const encryption = certificate ? ['--tls', '--tlscert', certificate, '--tlskey', certificate] : []
  let server: ChildProcess
  async function start(): Promise<void> {
    const options = ['--addr', '127.0.0.1', '--port', String(port)]
    const program = ['nats-server', ...options, ...account, ...encryption]
    // The server ends with this process.
    server = spawn('setpriv', ['--pdeathsig', 'KILL', ...program], { stdio: 'ignore' })
    await answer(port)
  }
  async function kill(): Promise<void> {
    const ended = once(server, 'close')
    server.kill('SIGKILL')
    await ended
  }
  await start()
  const login =
    encodeURIComponent(token ?? 'steward') + (token ? '' : `:${encodeURIComponent(password)}`)
  return {
    url: `${certificate ? 'tls' : 'nats'}://${login}@127.0.0.1:${port}`,
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
      socket.on('error', () => {})
      // Without words of a server: nobody listens, or another program does.
      socket.once('close', () => resolve(false))
    })
    socket.destroy()
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
