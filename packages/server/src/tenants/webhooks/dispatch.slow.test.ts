import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { tenant } from '../../sessions/log/fixture.ts'
import { attemptsOf } from './delivery-log.ts'
import { dispatchSetup } from './dispatch-fixture.ts'
import { startTestEndpoint } from './fixture.ts'
import type { WebhookDeliveryRow } from './outbox.ts'
import { operatorEndpoint, outbox } from './outbox.ts'
import { endpointStore } from './store.ts'
import { rows } from '../../ground/database/rows.ts'

const client = new Anthropic({ apiKey: 'none' })
const far = 130_000

const told = (row: WebhookDeliveryRow | undefined) => (row ? attemptsOf(row).length : 0)

for (const [kind, open] of Object.entries(everyShape)) {
  const setup = (given?: { allowed?: string; hintUrl?: string }) => dispatchSetup(open, given)

  describe(`webhooks on ${kind}`, () => {
    it('a delivery is written for each endpoint that asked for it, and none otherwise', async () => {
      await using at = await setup()
      await at.put()
      assert.deepEqual(await at.rows(), [])
      const one = await at.endpoint('http://one.example/', ['agent.created', 'vault.created'])
      const two = await at.endpoint('http://two.example/')
      const off = await at.endpoint('http://off.example/')
      await at.database.write((tx) =>
        endpointStore(tx).disable(tenant, off.id, { reason: 'request', now: 0 }),
      )
      await at.put()
      await at.put(1, 'environment.created')
      await at.put(1, 'agent.created', 'wrkspc_another')
      const failing = at.database.write(async (tx) => {
        await outbox(tx).put(tenant, ['agent.created'], { id: 'agent_9' }, 0)
        throw new Error('rolled back')
      })
      await assert.rejects(failing, /rolled back/)
      const all = await at.rows()
      assert.deepEqual(
        all.map((row) => `${row.endpoint_id} ${row.kind}`).toSorted(),
        [
          `${one.id} agent.created`,
          `${two.id} agent.created`,
          `${two.id} environment.created`,
        ].toSorted(),
      )
      const { id, ...rest } = JSON.parse(all[0]?.body ?? '') as { id: string }
      assert.match(id, /^whevt_/)
      const data = {
        type: 'agent.created',
        id: 'agent_0',
        organization_id: 'org_1',
        workspace_id: tenant,
      }
      const created_at = new Date(at.clock.now()).toISOString()
      assert.deepEqual(rest, { type: 'event', created_at, data })
    })

    it('a delivery is sent signed, once, and is on record as delivered', async () => {
      await using at = await setup()
      await using there = await startTestEndpoint()
      const { secret } = await at.endpoint(there.url)
      at.dispatch()
      await at.put()
      const [row] = await at.until((all) => all[0]?.state === 'delivered')
      const [letter] = there.letters
      assert.ok(row && letter)
      assert.equal(there.letters.length, 1)
      assert.equal(letter.headers['content-type'], 'application/json')
      assert.equal(letter.headers['webhook-id'], row.event_id)
      const headers = letter.headers as Record<string, string>
      assert.equal(client.beta.webhooks.unwrap(letter.body, { headers, key: secret }).type, 'event')
      assert.equal(attemptsOf(row)[0]?.status, 204)
      assert.deepEqual([row.begun, row.due_ms, row.ended_at !== null], [1, null, true])
    })

    // verifies: webhooks/attempts, webhooks/attempt-stable, webhooks/non-2xx
    it('a delivery that is not accepted is tried three times, the same and signed anew', async () => {
      await using at = await setup()
      await using there = await startTestEndpoint()
      there.answer((response, _letter, count) => {
        if (count === 2) response.destroy()
        else response.writeHead(500).end()
      })
      await at.endpoint(there.url)
      at.dispatch()
      await at.put()
      for (const count of [1, 2]) {
        await at.until((all) => told(all[0]) === count)
        at.clock.pass(1_000)
        assert.equal(there.letters.length, count)
        at.clock.pass(far)
      }
      const [row] = await at.until((all) => all[0]?.state === 'failed')
      assert.ok(row)
      at.clock.pass(far)
      const { letters } = there
      assert.equal(letters.length, 3)
      assert.deepEqual(
        attemptsOf(row).map(({ status }) => status),
        [500, null, 500],
      )
      const distinct = (name: string) => new Set(letters.map(({ headers }) => headers[name])).size
      assert.equal(new Set(letters.map(({ body }) => body)).size, 1)
      assert.equal(distinct('webhook-id'), 1)
      assert.equal(distinct('webhook-timestamp'), 3)
      assert.equal(distinct('webhook-signature'), 3)
    })

    it('a redirect is not followed, and ends the deliveries to it at once', async () => {
      await using at = await setup()
      await using there = await startTestEndpoint()
      there.answer((response) => response.writeHead(307, { location: '/elsewhere' }).end())
      const { id } = await at.endpoint(there.url)
      await at.put()
      at.dispatch()
      await at.until((all) => all.every(({ state }) => state === 'failed'))
      const { disabled_reason, disabled_at } = await at.standing(id)
      assert.equal(disabled_reason, 'redirect')
      assert.ok(disabled_at)
      await at.put(3)
      assert.equal((await at.rows()).length, 1)
      assert.deepEqual(
        there.letters.map(({ url }) => url),
        ['/hook'],
      )
    })

    it('deliveries for a disabled endpoint are not sent', async () => {
      await using at = await setup()
      await using there = await startTestEndpoint()
      await at.endpoint(there.url)
      there.answer((response, _letter, count) => {
        response.writeHead(count === 1 ? 503 : 302).end()
      })
      at.dispatch()
      await at.put()
      await at.until((all) => told(all[0]) === 1)
      await at.put()
      await at.until((all) => all.every(({ state }) => state === 'failed'))
      at.clock.pass(far)
      assert.equal(there.letters.length, 2)
    })

    // verifies: webhooks/redirect, webhooks/payload, settings/webhook-organization-id
    it("the operator's hint has its own address and key, and is off after a redirect", async () => {
      await using there = await startTestEndpoint()
      await using at = await setup({ hintUrl: there.url })
      at.dispatch()
      await at.sendHint()
      await at.until((all) => all.length === 1 && all[0]?.state === 'delivered')
      const [letter] = there.letters
      assert.ok(letter && at.hint)
      const headers = letter.headers as Record<string, string>
      const event = client.beta.webhooks.unwrap(letter.body, { headers, key: at.hint.secret })
      assert.deepEqual(event.data, {
        type: 'session.status_run_started',
        id: 'sesn_1',
        organization_id: 'org_1',
        workspace_id: tenant,
      })
      there.answer((response) => response.writeHead(301, { location: '/' }).end())
      await at.sendHint()
      await at.until((all) => all[1]?.state === 'failed')
      await at.sendHint()
      assert.equal((await at.rows()).length, 2)
      assert.ok((await at.rows()).every(({ endpoint_id }) => endpoint_id === operatorEndpoint))
    })

    it('without an address of the operator there is no hint, and none in vain', async () => {
      await using at = await setup()
      await at.sendHint()
      assert.deepEqual(await at.rows(), [])
      const { id } = await at.endpoint('http://one.example/', ['session.status_run_started'])
      await at.sendHint()
      assert.deepEqual(
        (await at.rows()).map(({ endpoint_id }) => endpoint_id),
        [id],
      )
    })

    it('two processes do not make the same attempt', async () => {
      await using at = await setup()
      await using there = await startTestEndpoint()
      const urls = ['a', 'b', 'c'].map((name) => `${there.url}/${name}`)
      for (const url of urls) await at.endpoint(url)
      at.dispatch()
      at.dispatch()
      await at.put(40)
      await at.until((all) => all.length === 120 && all.every(({ state }) => state === 'delivered'))
      const sent = there.letters.map(({ url, headers }) =>
        JSON.stringify([url, headers['webhook-id']]),
      )
      assert.equal(new Set(sent).size, 120)
      assert.equal(sent.length, 120)
    })

    it('an attempt that a process died in counts, and the next is due a while later', async () => {
      await using at = await setup()
      await using there = await startTestEndpoint()
      await at.endpoint(there.url)
      await at.put(2)
      const [first, second] = await at.rows()
      assert.ok(first && second)
      const lost = { due_ms: at.clock.now() + 60_000 }
      const change = (id: string, begun: number) =>
        at.database.write((tx) =>
          tx
            .updateTable('webhook_deliveries')
            .set({ ...lost, begun })
            .where('id', '=', id)
            .execute(),
        )
      await change(first.id, 1)
      await change(second.id, 3)
      at.dispatch()
      at.clock.pass(59_000)
      assert.equal((await at.rows()).filter(({ state }) => state === 'waiting').length, 2)
      at.clock.pass(2_000)
      const [one, two] = await at.until((all) => all.every(({ state }) => state !== 'waiting'))
      assert.ok(one && two)
      assert.deepEqual([one.state, one.begun, two.state, two.begun], ['delivered', 2, 'failed', 3])
      assert.deepEqual(
        attemptsOf(one).map(({ status }) => status),
        [null, 204],
      )
      assert.equal(attemptsOf(two).length, 3)
      assert.equal(there.letters.length, 1)
    })

    // verifies: webhooks/independent
    it('endpoints that hang hold up no other, and have few requests open', async () => {
      await using at = await setup()
      await using slow = await startTestEndpoint()
      await using quick = await startTestEndpoint()
      slow.answer(() => {})
      for (let n = 0; n < 8; n++) await at.endpoint(`${slow.url}/${n}`)
      await at.put(20)
      const { id } = await at.endpoint(quick.url)
      at.dispatch()
      await slow.came(32)
      const before = at.units()
      await at.put(20)
      await at.until(
        (all) =>
          all.filter((row) => row.endpoint_id === id && row.state === 'delivered').length === 20,
      )
      assert.equal(slow.letters.length, 32)
      const written = at.units() - before
      assert.ok(written <= 60, `${written} units: those that hang are not looked at each time`)
    })

    // verifies: webhooks/disabled
    it('an endpoint is let go after twenty deliveries in a row that failed', async () => {
      await using at = await setup()
      await using there = await startTestEndpoint()
      there.answer((response, _letter, count) => {
        response.writeHead(count <= 3 ? 200 : 500).end()
      })
      const { id } = await at.endpoint(there.url)
      at.dispatch()
      await at.put(3)
      await at.until((all) => all.every(({ state }) => state === 'delivered'))
      await at.put(30)
      await at.until((all) => {
        at.clock.pass(20_000)
        return all.every(({ state }) => state !== 'waiting')
      })
      const standing = await at.standing(id)
      assert.deepEqual([standing.disabled_reason, standing.failures], ['failures', 20])
    })

    // verifies: webhooks/private-address
    it('a private address is not dialled, by number or by name', async () => {
      await using at = await setup({ allowed: '' })
      await using there = await startTestEndpoint()
      await at.endpoint(there.url)
      await at.endpoint(there.url.replace('127.0.0.1', 'localhost'))
      await at.endpoint('http://[::ffff:169.254.169.254]/latest')
      at.dispatch()
      await at.put()
      const all = await at.until((rows) => rows.every((row) => attemptsOf(row).length === 1))
      for (const row of all)
        assert.match(attemptsOf(row)[0]?.error ?? '', /private or reserved/, row.attempts)
      assert.equal(there.letters.length, 0)
    })

    it("of an answer's body no more is read than it takes to be polite", async () => {
      await using at = await setup()
      await using there = await startTestEndpoint()
      let written = 0
      const closed = Promise.withResolvers<void>()
      there.answer((response) => {
        response.writeHead(200)
        const piece = Buffer.alloc(64 * 1024)
        const more = () => {
          while (!response.destroyed && response.write(piece)) written += piece.length
        }
        response.on('drain', more).on('close', () => closed.resolve())
        more()
      })
      await at.endpoint(there.url)
      at.dispatch()
      await at.put()
      await at.until((all) => all[0]?.state === 'delivered')
      await closed.promise
      assert.ok(written < 64 * 1024 * 1024)
    })

    it('a redirect says nothing of the address that has replaced it meanwhile', async () => {
      await using at = await setup()
      await using there = await startTestEndpoint()
      const { id } = await at.endpoint(there.url)
      there.answer((response) => {
        void at.database
          .write(async (tx) => {
            const kept = await rows(tx, 'webhook_endpoints').getForUpdate(tenant, id)
            await rows(tx, 'webhook_endpoints').update(kept, { url: `${there.url}/new` })
          })
          .then(() => response.writeHead(302, { location: 'http://else.example/' }).end())
      })
      await at.put()
      at.dispatch()
      await at.until(([row]) => row?.state === 'failed')
      assert.equal((await at.standing(id)).disabled_at, null)
      assert.equal((await at.standing(id)).failures, 0)
    })
  })
}
