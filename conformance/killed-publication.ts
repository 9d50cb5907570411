/**
 * A publication whose server is killed between taking deliveries, appending them to sessions and posting the tellings.
 */
import assert from 'node:assert/strict'
import { signedHeaders } from '@steward/server/tenants/webhooks/sign.ts'
import type { PostReceiver } from './receiver.ts'
import type { ServiceClients, LooseBody } from './service.ts'
import { until } from './until.ts'

const path = '/v1/ext/integrations/webhook/publications'
const threads = ['a', 'b', 'c', 'd']
const ofThread = 8

type KilledPublication = { secret: string; delivery_url: string; id: string }
type PublicationReply = {
  id: string
  type: string
  scope: string
  text: string
  session_id: string
}

export async function publish(
  service: ServiceClients,
  receiver: PostReceiver,
): Promise<KilledPublication> {
  const agent = await service.client.beta.agents.create({ name: 'answers', model: 'offline' })
  const environment = await service.client.beta.environments.create({ name: 'answers' })
  const { body } = await service.ask<KilledPublication>('POST', path, {
    ...{ agent: agent.id, environment_id: environment.id },
    webhook: {
      mapping: { scope: '/thread', author: '/user', text: '/text' },
      authors: ['ada'],
      answer_url: `${receiver.base}/answers`,
    },
  })
  return body
}

/**
 * Sends the deliveries of all threads, in order within each thread, until the server is down. Returns the number of
 * accepted deliveries.
 */
export async function sendAll(
  service: ServiceClients,
  { secret, delivery_url }: KilledPublication,
): Promise<number> {
  const url = `${service.base}${new URL(delivery_url).pathname}${new URL(delivery_url).search}`
  let taken = 0
  async function send(thread: string): Promise<void> {
    for (let n = 0; n < ofThread; n++) {
      const body = JSON.stringify({ thread, user: 'ada', text: `say: ${thread}${n}` })
      const headers = signedHeaders({ id: `${thread}${n}`, body }, [secret], Date.now())
      const { status } = await fetch(url, { method: 'POST', headers, body })
      assert.equal(status, 200)
      taken++
    }
  }
  await Promise.allSettled(threads.map(send))
  return taken
}

const repliesOf = ({ posted }: PostReceiver): PublicationReply[] =>
  posted
    .filter((each) => each.path === '/answers')
    .map(({ body }) => JSON.parse(body) as PublicationReply)
    .filter(({ type }) => type === 'reply')

/**
 * Asserts that each delivery is one message of its thread's only session, in order, and that each answer is told once.
 * One turn may answer several messages that waited.
 */
export async function assertToldOnce(
  service: ServiceClients,
  receiver: PostReceiver,
): Promise<void> {
  for (const thread of threads) {
    const ofIt = () => repliesOf(receiver).filter(({ scope }) => scope === thread)
    await until(() => ofIt().some(({ text }) => text === `${thread}${ofThread - 1}`))
    const [session = '', ...others] = new Set(ofIt().map(({ session_id }) => session_id))
    assert.deepEqual(others, [], 'a thread has one session')
    const log = await service.ask<LooseBody[]>('GET', `/v1/sessions/${session}/log`)
    const asked = log.body
      .filter(({ type }) => type === 'user.message')
      .map((message) => /say: (\w+)/.exec(JSON.stringify(message))?.[1])
    const sent = Array.from({ length: ofThread }, (_, n) => `${thread}${n}`)
    assert.deepEqual(asked, sent, 'each delivery is one message')
    const answers = log.body.filter(({ type }) => type === 'agent.message').map(({ id }) => id)
    const told = ofIt().map(({ id }) => id)
    assert.deepEqual([...new Set(told)], answers, 'each answer is told, in order')
    assert.ok(told.length <= answers.length + 1, 'only what was under way is told again')
  }
}
