/** Live words over NATS: its server knows which process reads which topic, and sends each word there and nowhere else. */
import type { NatsConnection, Subscription } from '@nats-io/transport-node'
import { parseObject } from '@steward/base/json-object.ts'
import type { Log } from '@steward/base/log.ts'
import type { BusMessage, Channel } from '../bus.ts'
import { memoryChannel } from '../memory.ts'
import { createSender, subjectOf } from './sender.ts'

type NatsDeps = {
  /** SECRET: never logged, as it may hold a password or a token. */
  url: string
  log: Log
  /** Bytes that the server has not confirmed before further words are dropped. */
  waitingBytes?: number
}

/** Rejects when the server cannot be reached or refuses. From then on its loss is survived. */
export async function natsChannel(deps: NatsDeps): Promise<Channel> {
  const { url, log, waitingBytes = 4 * 1024 * 1024 } = deps
  const { connection, host } = await connectTo(url)
  const sender = createSender(connection, waitingBytes)
  const subscriptions = new Map<string, Subscription>()
  /** Topics that have brought a word from another process: those alone can lack one when the server is lost. */
  const heard = new Set<string>()
  const local = memoryChannel((topic, hasSubscriber) => {
    if (hasSubscriber) {
      if (!connection.isClosed()) subscriptions.set(topic, subscribeTo(topic))
      return
    }
    subscriptions.get(topic)?.unsubscribe()
    subscriptions.delete(topic)
    heard.delete(topic)
  })

  function subscribeTo(topic: string): Subscription {
    return connection.subscribe(subjectOf(topic), {
      callback(error, { data }) {
        if (error) log.warn('NATS refused a subscription', { host, error })
        else hear(topic, Buffer.from(data).toString())
      },
    })
  }

  function hear(topic: string, text: string): void {
    let message: BusMessage
    try {
      message = parseObject(text)
    } catch (error) {
      log.debug('a message on NATS is none of this service', { host, error })
      return
    }
    if (local.hasSubscriber(topic)) heard.add(topic)
    local.publish(topic, message)
  }

  async function followStatus(): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect' && sender.isConnected()) {
        sender.setConnected(false)
        log.warn(away, { host })
        const lacking = [...heard]
        heard.clear()
        local.miss(lacking)
      } else if (status.type === 'reconnect') {
        sender.setConnected(true)
        // When the server has every subscription again. A flush fails where the server is lost once more.
        connection.flush().then(
          () => log.info('NATS is back', { host }),
          () => {},
        )
      } else if (status.type === 'error') log.warn('NATS refused', { host, error: status.error })
    }
  }

  void followStatus()
  log.info('live text goes over NATS', { host })

  return {
    publish(topic, message) {
      local.publish(topic, message)
      if (!connection.isClosed()) sender.publish(topic, message)
    },
    subscribe: (topic, take) => local.subscribe(topic, take),
    isOpen: () => sender.isConnected(),
    close: () => connection.close(),
  }
}

const away = 'NATS is away, so live text of other processes is not shown until it is back'

/** The library is loaded by those that use it. */
async function connectTo(url: string): Promise<{ connection: NatsConnection; host: string }> {
  const { connect } = await import('@nats-io/transport-node')
  const { protocol, host, username, password } = new URL(url)
  const [name, secret] = [decodeURIComponent(username), decodeURIComponent(password)]
  const account = name === '' ? {} : secret === '' ? { token: name } : { user: name, pass: secret }
  // Without it a server that asks for TLS gets it too.
  const encryption = protocol === 'tls:' ? { tls: {} } : {}
  try {
    const connection = await connect({
      servers: host,
      name: 'steward',
      // This process has heard its own words already.
      noEcho: true,
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
      reconnectTimeWait: 500,
      pingInterval: 5_000,
      timeout: 5_000,
      ...encryption,
      ...account,
    })
    return { connection, host }
  } catch (cause) {
    const why = (cause as Error).message
    throw new Error(`the NATS server at ${host} that BUS_URL names cannot be used: ${why}`, {
      cause,
    })
  }
}
