import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import type { Wake } from '../../../ground/database/tables/integrations.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { tenant } from '../../../sessions/log/fixture.ts'
import type { IncomingMessage } from '../integration.ts'
import type { PublicationRow } from '../store.ts'
import { integrationStore } from '../store.ts'
import { moveToThreads } from './own-pull-requests.ts'

const publication = (id: string, name: string | null = null): PublicationRow => ({
  ...{ tenant_id: tenant, id, integration: 'github', installation_id: 'inst_1' },
  ...{ agent_id: 'agent_1', agent_version: null, environment_id: 'env_1' },
  ...{ vault_id: null, token_due_ms: null, sealed_secrets: null, known_ids: null },
  ...{ spec: { vault_ids: [], name }, status: 'live', metadata: {} },
  ...{ created_at: iso(0), updated_at: iso(0) },
})
const message: IncomingMessage = {
  ...{ kind: 'message', scope: 'acme/shop#9', author: 'ada', text: 'Go on.' },
  ...{ context: {}, target: {} },
}
const waking = (opener?: Wake['opener']): IncomingMessage => ({
  ...message,
  wake: {
    ...{ kind: 'failed_checks', pull_request: 'acme/shop#9', head: 'a' },
    ...(opener && { opener }),
  },
})

for (const [dialect, open] of Object.entries(databases)) {
  describe(`a pull request of an agent on ${dialect}`, () => {
    it('belongs to the thread whose agent opened it, for all that comes', async () => {
      await using opened = await open()
      const { database: db } = opened
      await db.write((tx) =>
        integrationStore(tx).notePullRequest({
          ...{ tenant_id: tenant, publication_id: 'pub_1', scope: 'acme/shop#9' },
          ...{ thread_scope: 'acme/shop#3', session_id: 'sesn_1', head: 'mend' },
          created_at: iso(0),
        }),
      )
      /** Who hears it, in which thread. */
      const heard = async (incoming: IncomingMessage) => {
        const publications = [publication('pub_1', 'coder'), publication('pub_2')]
        const read = publications.map((each) => ({ publication: each, incoming }))
        return (await moveToThreads(db, read)).flatMap((each) =>
          each.incoming.kind === 'message'
            ? [`${each.publication.id} ${each.incoming.scope} ${each.incoming.wake?.opener}`]
            : [],
        )
      }
      const words = await heard(message)
      assert.deepEqual(words, ['pub_1 acme/shop#3 undefined', 'pub_2 acme/shop#9 undefined'])
      // The tool may open it in the name of somebody else.
      for (const opener of ['other', 'agent', undefined] as const)
        assert.deepEqual(await heard(waking(opener)), ['pub_1 acme/shop#3 agent'])
      const elsewhere = (opener?: Wake['opener']) =>
        heard({ ...waking(opener), scope: 'acme/shop#10' })
      assert.deepEqual(await elsewhere('other'), [])
      assert.deepEqual(await elsewhere('agent'), ['pub_2 acme/shop#10 agent'])
      assert.deepEqual(await elsewhere(), ['pub_2 acme/shop#10 undefined'])
    })
  })
}
