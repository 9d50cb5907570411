/** Live words over NATS. Its server sends each word only to the processes that read the topic. */
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
  /** Most unconfirmed bytes. Above them further words are dropped. */
  waitingBytes?: number
}

/** Rejects when the server cannot be reached or refuses. After that, the channel survives a loss of the server. */
export async function natsChannel(deps: NatsDeps): Promise<Channel> {
  const { url, log, waitingBytes = 4 * 1024 * 1024 } = deps
  const { connection, host } = await connectTo(url)
  const sender = createSender(connection, waitingBytes)
  const subscriptions = new Map<string, Subscription>()
  /** Topics with words from other processes. Only these can miss words when the server is lost. */
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
        // The flush resolves when the server has every subscription again. It fails when the server is lost once more.
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
    // The server alone knows who reads.
    mayBeHeard: () => true,
    isOpen: () => sender.isConnected(),
    close: () => connection.close(),
  }
}

const away = 'NATS is away, so live text of other processes is not shown until it is back'

/** Loads the library only when NATS is configured. */
async function connectTo(url: string): Promise<{ connection: NatsConnection; host: string }> {
  const { connect } = await import('@nats-io/transport-node')
  const { protocol, host, username, password } = new URL(url)
  const [name, secret] = [decodeURIComponent(username), decodeURIComponent(password)]
  const account = name === '' ? {} : secret === '' ? { token: name } : { user: name, pass: secret }
  // Without this option, a server that requires TLS still gets it.
  const encryption = protocol === 'tls:' ? { tls: {} } : {}
  try {
    const connection = await connect({
      servers: host,
      name: 'steward',
      // Subscribers of this process get its words directly.
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
