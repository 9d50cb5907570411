/** Sign-in by the groups of a company's provider. The groups are asked anew every few minutes while a person is signed in. */
import { parseObject } from '@steward/base/json-object.ts'
import { minuteMs, secondMs } from '@steward/base/settings/kinds.ts'
import { PlatformError } from '../../../ground/core/errors.ts'
import { jobCall, runAudited } from '../../../ground/core/security/audited-call.ts'
import type { Sealed } from '../../../ground/core/security/seal.ts'
import type { Job } from '../../../ground/core/time/jobs.ts'
import type { Queries } from '../../../ground/database/database.ts'
import type { Ground } from '../../../ground/ground.ts'
import { notifyOfPeople } from '../../people/authenticate.ts'
import type {
  GroupProof,
  GroupSignIns,
  ProviderTokens,
} from '../../people/identities/at-provider.ts'
import { readAtProvider, renewTokens } from '../../people/identities/at-provider.ts'
import { ProviderRefusal } from '../../people/identities/ask-provider.ts'
import { resolveRights } from '../../people/identities/identities.ts'
import type { OpenProvider } from '../../people/identities/provider-keys.ts'
import { peopleStore } from '../../people/store.ts'
import { applyGroups } from './memberships.ts'
import type { GrantRow } from './store.ts'
import { askedAwayMs, grantContext, groupStore } from './store.ts'

const everyMs = 5 * secondMs
/** Without providers there is only what earlier settings have left. */
const unusedEveryMs = 10 * minuteMs
const mostAtOnce = 100
const atOnce = 8
/** While a provider does not answer, what it said last counts for this long. */
const unansweredMs = 30 * minuteMs

const call = jobCall('member.ask_provider')

type Renewed = { kept: GrantRow; tokens: ProviderTokens }

/** A provider that the settings name no longer. */
const formerProvider = (id: string) => ({ id, issuer: id, revokesKeys: false })

/** Faults of this service's registration at the provider, which say nothing about a person. RFC 6749 5.2 */
const ownFaults = ['invalid_client', 'unauthorized_client', 'invalid_request', 'invalid_scope']

/** The provider takes the person, or what it gave for the person, no longer. */
function isRefusal(error: unknown): boolean {
  if (error instanceof PlatformError) return error.kind === 'unauthorized'
  if (!(error instanceof ProviderRefusal) || ownFaults.includes(error.code ?? '')) return false
  return error.code === 'invalid_grant' || [401, 403].includes(error.status)
}

export type GroupDeps = Ground & { providers: ReadonlyMap<string, OpenProvider> }

export function groupSignIns(deps: GroupDeps): GroupSignIns & { job: Job } {
  const { databases, clock, log, seal, providers } = deps
  const { control } = databases

  function openProvider(id: string): OpenProvider {
    const open = providers.get(id)
    if (!open) throw new Error(`no provider has the name ${id}`)
    return open
  }

  const read: GroupSignIns['read'] = async (id, tokens) => {
    const proof = await readAtProvider(openProvider(id), tokens, { clock, log })
    const given = await resolveRights(control.read, proof.rights, log)
    return { ...proof, isAdmitted: given.length > 0 }
  }

  async function apply(tx: Queries, person: string, { providerId, rights }: GroupProof) {
    const { provider } = openProvider(providerId)
    const given = await resolveRights(tx, rights, log)
    await applyGroups(tx, given, { person, provider, now: clock.now() })
  }

  const begin: GroupSignIns['begin'] = async (proof, { person, tokenHash }) => {
    const { providerId: provider, sub: subject, tokens } = proof
    await control.write(async (tx) => {
      await peopleStore(tx).noteProvider(tokenHash, provider)
      await groupStore(tx).put(seal, { person, provider, subject, tokens }, clock.now())
      await apply(tx, person, proof)
      notifyOfPeople(tx)
    })
  }

  /** Ends what the provider gave: memberships, sign-ins and the grant. */
  const end = (grant: GrantRow): Promise<void> =>
    runAudited(call, () =>
      control.write(async (tx) => {
        if (!(await groupStore(tx).remove(grant))) return
        const { person_id: person, provider_id: provider } = grant
        const named = providers.get(provider)?.provider ?? formerProvider(provider)
        await applyGroups(tx, [], { person, provider: named, now: clock.now() })
        await peopleStore(tx).endAtProvider(person, provider)
        notifyOfPeople(tx)
      }),
    )

  function openTokens({ id, sealed_tokens }: GrantRow): Partial<ProviderTokens> {
    const sealed = parseObject(sealed_tokens)
    const open = (name: 'access' | 'refresh') =>
      sealed[name] === undefined
        ? {}
        : { [name]: seal.open(sealed[name] as Sealed, grantContext('', id, name)) }
    return { ...open('access'), ...open('refresh') }
  }

  /** Renewed tokens are kept before anything else is asked: the provider may take the former ones no longer. */
  async function renewed(grant: GrantRow, open: OpenProvider) {
    const { access = '', refresh } = openTokens(grant)
    if (refresh === undefined) return { kept: grant, tokens: { access } }
    const tokens = await renewTokens(open, refresh)
    const kept = await control.write((tx) => groupStore(tx).renew(seal, grant, tokens))
    return kept && { kept, tokens }
  }

  async function confirm({ kept, tokens }: Renewed, open: OpenProvider): Promise<void> {
    const { person_id: person, subject } = kept
    const proof = await readAtProvider(open, tokens, { clock, log }, subject)
    const now = clock.now()
    await runAudited(call, () =>
      control.write(async (tx) => {
        const isSignedIn = await groupStore(tx).isSignedIn(person, now)
        if (await groupStore(tx).confirm(kept, isSignedIn, now)) await apply(tx, person, proof)
      }),
    )
  }

  /** The provider was silent for too long, or takes the person no longer. */
  async function isLost(grant: GrantRow, error: unknown): Promise<boolean> {
    const { person_id: person, provider_id: provider, confirmed_ms } = grant
    const now = clock.now()
    const isSignedIn = await groupStore(control.read).isSignedIn(person, now)
    const mostMs = unansweredMs + (isSignedIn ? 0 : askedAwayMs)
    const isOver = now - Number(confirmed_ms) > mostMs
    log.warn('an identity provider did not confirm a person', { provider, person, isOver, error })
    return isOver || isRefusal(error)
  }

  async function ask(grant: GrantRow): Promise<void> {
    const open = providers.get(grant.provider_id)
    if (!open?.provider.client) return end(grant)
    if (!(await control.write((tx) => groupStore(tx).claim(grant, clock.now())))) return
    let known = grant
    try {
      const tokens = await renewed(grant, open)
      if (!tokens) return
      known = tokens.kept
      await confirm(tokens, open)
    } catch (error) {
      if (await isLost(known, error)) await end(known)
    }
  }

  const job: Job = {
    name: 'ask identity providers about people',
    everyMs: providers.size > 0 ? everyMs : unusedEveryMs,
    async run() {
      const due = await groupStore(control.read).due(clock.now(), mostAtOnce)
      for (let from = 0; from < due.length; from += atOnce)
        await Promise.all(due.slice(from, from + atOnce).map(ask))
      return due.length < mostAtOnce
    },
  }

  return { read, begin, job }
}
