/** Requests by tokens of an identity provider, beside the same requests by key. */
import { startIssuer } from '@steward/server/tenants/people/identities/issuer-fixture.ts'
import type { Client } from '../client.ts'
import { client } from '../client.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import { startServer } from '../processes.ts'
import type { BenchSetup } from './setup.ts'

const rounds = 60
const requestsOfRound = 50
const warming = 10
const newTokens = 200

async function requestMs({ get }: Client, path: string): Promise<number> {
  const began = performance.now()
  for (let n = 0; n < requestsOfRound; n++) await get(path)
  return (performance.now() - began) / requestsOfRound
}

export async function* identities(
  folder: string,
  env: Record<string, string>,
  setUp: (base: string) => Promise<BenchSetup>,
): AsyncGenerator<Figure> {
  await using issuer = await startIssuer()
  const rules = [{ groups: ['eng'], workspace: 'default', role: 'member' }]
  const server = await startServer(folder, {
    ...env,
    EGRESS_ALLOW_PRIVATE: '127.0.0.0/8',
    IDENTITY_PROVIDERS: JSON.stringify({
      okta: { issuer: issuer.issuer, audience: 'steward', rules },
    }),
  })
  const { agents, call } = await setUp(server.base)
  const path = `/v1/agents/${agents['one']}`
  const groups = Array.from({ length: 40 }, (_, n) => `group-${n}`).concat('eng')
  const signed = (sub: string) => issuer.sign({ sub, email: `${sub}@acme.example`, groups })
  const byToken = async (sub: string) =>
    client(server.base, 1, { 'x-api-key': '', authorization: `Bearer ${await signed(sub)}` })
  const byKey = client(server.base, 1)
  const remembered = await byToken('ada')
  const more: number[] = []
  for (let round = 0; round < rounds; round++) {
    const isFirst = round % 2 === 0
    const first = await requestMs(isFirst ? byKey : remembered, path)
    const second = await requestMs(isFirst ? remembered : byKey, path)
    if (round >= warming) more.push(isFirst ? second - first : first - second)
  }
  yield {
    what: 'a request by token, remembered, more than one by key',
    value: median(more),
    unit: 'ms',
    goal: 0.15,
  }
  const times: number[] = []
  for (let n = 0; n < newTokens; n++) {
    const each = await byToken(`person-${n % 20}`)
    const began = performance.now()
    await each.get(path)
    times.push(performance.now() - began)
    await each.close()
  }
  yield { what: 'the first request by a new token', value: median(times), unit: 'ms', goal: 5 }
  for (const each of [call, byKey, remembered]) await each.close()
  await server.stop()
}
