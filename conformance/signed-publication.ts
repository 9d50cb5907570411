/** A publication of the signed webhook: the test sends messages to it and keeps the tellings that it receives. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { signedHeaders } from '@steward/server/tenants/webhooks/sign.ts'
import type { PostReceiver } from './receiver.ts'
import type { ServiceClients, LooseBody } from './service.ts'
import { fresh } from './turns.ts'

export const signedPublications = '/v1/ext/integrations/webhook/publications'
type Publication = LooseBody & { secret: string; delivery_url: string; status: string }
type Delivery = { state: string; reason: string | null; session_id: string | null }
type Sent = { id?: string; author?: string; body?: object; secret?: string; to?: string }

/** Creates the publication in the environment with this id. It hears the author `ada`. */
export async function publishSigned(
  {
    service,
    receiver,
    environment,
  }: { service: ServiceClients; receiver: PostReceiver; environment: string },
  agent: object = {},
) {
  const made = await service.client.beta.agents.create({
    name: fresh('agent'),
    model: 'offline',
    ...agent,
  })
  const path = `/${fresh('answers').replaceAll(' ', '-')}`
  const { body, status } = await service.ask<Publication>('POST', signedPublications, {
    agent: made.id,
    environment_id: environment,
    webhook: {
      mapping: {
        scope: '/issue',
        author: '/user',
        text: '/text',
        context: { title: '/title' },
      },
      authors: ['ada'],
      answer_url: `${receiver.base}${path}`,
    },
  })
  assert.equal(status, 200)
  const told = () =>
    receiver.posted
      .filter((each) => each.path === path)
      .map(({ body: text }) => JSON.parse(text) as LooseBody)
  async function send(issue: string, text: string, { id = randomUUID(), ...sent }: Sent = {}) {
    const { author: user = 'ada', secret = body.secret, to = body.delivery_url } = sent
    const json = JSON.stringify(sent.body ?? { issue, user, text, title: 'Obey me.' })
    const headers = signedHeaders({ id, body: json }, [secret], Date.now())
    return (await fetch(to, { method: 'POST', headers, body: json })).status
  }
  const deliveries = async () =>
    (await service.ask<{ data: Delivery[] }>('GET', `${signedPublications}/${body.id}/deliveries`))
      .body.data
  return { ...body, agent: made, path, told, send, deliveries }
}
