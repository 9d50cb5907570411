import {
  ModelCardCreate,
  ModelCardListQuery,
  ModelCardProbed,
  ModelCardShown,
  ModelCardUpdate,
} from '@steward/protocol/model-cards.ts'
import type { PriceTable } from '@steward/model/price.ts'
import { auditStore } from '../../tenants/audit/store.ts'
import { usageStore } from '../../tenants/usage/store.ts'
import { conflict, notFound } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { admitDestinations } from '../../ground/core/security/secret-destination.ts'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import type { Principal } from '../../ground/http/principal.ts'
import { actorOf, isAdmin } from '../../ground/http/principal.ts'
import { recordBody } from '../../ground/http/limits.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import type { CardRow } from './store.ts'
import { modelCardStore, showCard } from './store.ts'
import type { CardInput, CloudRights } from './write.ts'
import { requireApiKey, updateCard, newDestinations, probeCard, buildCardRow } from './write.ts'
import { rows } from '../../ground/database/rows.ts'
import type { Rules } from '../../ground/core/rules/rules.ts'
import { namesOfCard } from './ruled-names.ts'

const cards = section('Models', ['workspace'], '/v1/ext/model_cards')
/** Attempts of an update that other updates overtake. */
const mostAttempts = 3

export function modelCardRoutes({
  seal,
  clock,
  prices,
  cloudIdentityWorkspaces,
  limits,
}: Ground & { prices: PriceTable; limits: { rules: Rules } } & CloudRights): Route[] {
  /** Writes the audit row before the probe, because the probe sends the key. */
  async function recordRedirect(
    db: Database,
    by: Principal,
    { tenant_id: tenant, id }: CardRow,
  ): Promise<void> {
    const change = {
      change: 'model_card.redirected',
      of: { modelCard: id },
      by: { api_key_id: actorOf(by) },
      now: clock.now(),
    } as const
    await db.write((tx) => auditStore(tx).changed(tenant, change))
  }

  /** Counts the request in the usage of the workspace, whatever becomes of the card. */
  async function tryCard(
    { db, tenant, signal }: { db: Database; tenant: string; signal: AbortSignal },
    card: CardInput,
    isWanted = false,
  ) {
    await limits.rules.check(tenant, 'models', () => namesOfCard(card), 'model')
    const { result, usage, price } = await probeCard(
      card,
      { prices, cloudIdentityWorkspaces },
      { tenant, signal, isWanted },
    )
    const request = { model: card.model_id, usage, price, now: clock.now() }
    if (Object.values(usage).some((count) => count > 0))
      await db.write((tx) => usageStore(tx).addProbe(tenant, request))
    return result
  }

  const plain = cards.plain(
    { one: 'a card', many: 'cards', item: '/:id', answer: ModelCardShown },
    {
      create: {
        summary: 'Create a model card',
        description: 'A key that the provider refuses is refused.',
        body: ModelCardCreate,
        limits: recordBody,
        async run(call) {
          const { db, tenant, body } = call
          const api_key = requireApiKey(body)
          const card = {
            ...body,
            api_key,
            credentials: body.credentials ?? null,
            custom_headers: body.custom_headers ?? {},
          }
          const probe = await tryCard(call, card)
          const at = iso(clock.now())
          const row = buildCardRow(
            { tenant_id: tenant, id: newId('model_card'), created_at: at },
            card,
            seal,
            at,
          )
          await db.write((tx) => modelCardStore(tx).insert(row))
          return { ...showCard(row), probe }
        },
      },
      list: {
        query: ModelCardListQuery,
        scope: 'model_cards',
        rows: ({ db, tenant }, page) => rows(db.read, 'model_cards').list(tenant, page),
        show: showCard,
      },
      get: {
        run: async ({ db, tenant, params }) =>
          showCard(await rows(db.read, 'model_cards').get(tenant, params.id)),
      },
      update: {
        summary: 'Update a model card',
        description: 'A new key is tried at the provider.',
        body: ModelCardUpdate,
        limits: recordBody,
        async run(call) {
          const { db, tenant, principal, params, body } = call
          // Writes exactly the card that was checked and probed. When the card changed in between, everything is
          // repeated.
          for (let attempt = 1; attempt <= mostAttempts; attempt++) {
            const kept = await rows(db.read, 'model_cards').get(tenant, params.id)
            const further = await newDestinations(kept, body)
            const isRedirected = admitDestinations(further, isAdmin(principal))
            const card = updateCard(kept, body, seal)
            if (isRedirected) await recordRedirect(db, principal, kept)
            const probe = await tryCard(call, card)
            const row = buildCardRow(kept, card, seal, iso(clock.now()))
            if (await db.writeStatement((tx) => modelCardStore(tx).replace(kept, row)))
              return { ...showCard(row), probe }
          }
          throw conflict(
            `model card ${params.id} is being changed by others: look at it and try again`,
          )
        },
      },
      delete: {
        description:
          'Agents that name the card find no model from their next turn on, unless the operator has a key for it.',
        type: 'model_card_deleted',
        run: ({ db, tenant, params }) =>
          db.write((tx) => modelCardStore(tx).remove(tenant, params.id)),
      },
    },
  )
  const key = cards.get(
    '/:id/key',
    {
      callers: ['workspace', 'environment'],
      summary: 'Refuse to show the key of a model card',
      description:
        'Answers 404 to every credential that a caller can have: the service alone reads keys.',
      answer: 'none',
    },
    async ({ params }) => {
      throw notFound('model card key of', params.id)
    },
  )
  const probe = cards.post(
    '/:id/probe',
    {
      summary: 'Probe a model card',
      description:
        'Asks the model for a few tokens, over each wire that is spoken here, for at most six seconds. What the provider says is the answer; the card stays as it is.',
      answer: ModelCardProbed,
    },
    async (call) => {
      const { db, tenant, params } = call
      const kept = await rows(db.read, 'model_cards').get(tenant, params.id)
      const result = await tryCard(call, updateCard(kept, {}, seal), true)
      return { type: 'model_card_probe', ...result }
    },
  )
  return [...plain, key, probe]
}
