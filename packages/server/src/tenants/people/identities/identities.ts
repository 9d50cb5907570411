/**
 * Who holds a token of a company's identity provider, and what the rules of the settings give. A checked token is
 * remembered for a minute, so that a request costs one look-up in memory.
 */
import { minuteMs, secondMs } from '@steward/base/settings/kinds.ts'
import type { CompanyProvider } from '../../../ground/config/company-providers.ts'
import { PlatformError, unauthorized } from '../../../ground/core/errors.ts'
import { widerRole } from '../../../ground/core/security/roles.ts'
import { hashToken } from '../../../ground/core/security/token.ts'
import type { Log } from '@steward/base/log.ts'
import type { Reads } from '../../../ground/database/database.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { Membership } from '../authenticate.ts'
import { peopleTopic } from '../authenticate.ts'
import { claimText } from './claims.ts'
import type { Claims } from './claims.ts'
import type { OpenProvider } from './provider-keys.ts'
import { rightsBy } from './rules.ts'
import type { Rights } from './rules.ts'
import { identityStore, isCurrentSubject } from './store.ts'
import { issuerOf, verifyToken } from './verify-token.ts'

/** The holder of a token that was checked. */
export type Identity = {
  /** The id of this service for the holder. Empty when no rule gives a workspace: nothing is kept of such holders. */
  id: string
  provider: CompanyProvider
  subject: string
  kind: 'person' | 'service'
  email: string | null
  /** For people: who it is, and the issuer. */
  label: string
  memberships: readonly Membership[]
  /** The names of the claims of the token, for messages. */
  claimNames: readonly string[]
  /** When the token ends, in milliseconds. */
  expiresAt: number
}

/** How long a checked token counts without a further check: a group that is gone from the provider's answer counts no longer. */
export const rememberedMs = minuteMs
const refusedMs = 10 * secondMs
/** A provider that has not answered is not asked about the token again for this long. */
const awayMs = 5 * secondMs
const mostRemembered = 10_000
const longestSubject = 1_000
const longestLabel = 120

/** What a token has proved, and where its rights lead as far as this process has heard. */
type Checked = Omit<Identity, 'memberships'> & {
  rights: Rights
  heard: number
  memberships: Membership[]
}

type Remembered = {
  /** SECRET: never logged. Answers that stay open for longer are checked anew by it. */
  token: string
  until: number
  found: Promise<Checked>
}

export type Identities = {
  /** True for a text that has the form of a token, and names an issuer of the settings. */
  isToken: (text: string) => boolean
  /** Throws `unauthorized` for a token that is refused, and `unavailable` when its provider cannot be asked. */
  identify: (token: string) => Promise<Identity>
  /** True while the remembered token with this hash opens the workspace. */
  stillOpens: (hash: string, tenant: string) => Promise<boolean>
}

export function createIdentities(
  providers: ReadonlyMap<string, OpenProvider>,
  { databases, clock, log, bus }: Ground,
): Identities {
  const byIssuer = new Map(
    [...providers.values()]
      .filter(({ provider }) => provider.audiences.length > 0)
      .map((open) => [open.provider.issuer, open]),
  )
  const { control } = databases
  const known = new Map<string, Remembered>()
  const refused = new Map<string, Remembered>()
  /** The number of notifications: a workspace was archived, deleted or renamed. */
  let heard = 0
  bus.subscribe(peopleTopic, () => heard++)
  const membershipsOf = (rights: Rights) => resolveRights(control.read, rights, log)

  async function noteSubject(
    { id, issuer }: CompanyProvider,
    { subject, kind, email, name }: Holder & { name: string | null },
  ): Promise<string> {
    const facts = { issuer, subject, provider_id: id, kind, name, email }
    const row = await identityStore(control.read).subject(facts.issuer, subject)
    const now = clock.now()
    if (row && isCurrentSubject(row, facts, now)) return row.id
    return control.write((tx) => identityStore(tx).noteSubject(facts, now))
  }

  async function check(token: string): Promise<Checked> {
    const found = byIssuer.get(issuerOf(token) ?? '')
    if (!found) throw unauthorized('the issuer of the token is not among IDENTITY_PROVIDERS')
    const { provider, keys } = found
    const claims = await verifyToken(provider, token, { keys, clock, log })
    const { name, ...holder } = readHolder(provider, claims)
    const rights = rightsBy(provider, claims)
    const before = heard
    const memberships = await membershipsOf(rights)
    const expiresAt = Math.min(claims.exp * 1_000, claims.iat * 1_000 + provider.tokenMs)
    const id = memberships.length === 0 ? '' : await noteSubject(provider, { ...holder, name })
    const claimNames = Object.keys(claims)
    return { id, provider, ...holder, claimNames, expiresAt, rights, memberships, heard: before }
  }

  function remember(hash: string, token: string): Promise<Checked> {
    const found = check(token)
    const entry = { token, until: clock.now() + rememberedMs, found }
    put(known, hash, entry)
    found.then(
      ({ expiresAt }) => {
        entry.until = Math.min(entry.until, expiresAt)
      },
      (error: unknown) => {
        if (known.get(hash) === entry) known.delete(hash)
        if (!(error instanceof PlatformError)) return
        const restMs = error.kind === 'unavailable' ? awayMs : refusedMs
        put(refused, hash, { ...entry, until: clock.now() + restMs })
      },
    )
    return found
  }

  async function identify(token: string, hash = hashToken(token)): Promise<Identity> {
    const now = clock.now()
    const entry = [known.get(hash), refused.get(hash)].find((each) => each && each.until > now)
    const checked = await (entry ? entry.found : remember(hash, token))
    if (checked.heard !== heard) {
      const before = heard
      checked.memberships = await membershipsOf(checked.rights)
      checked.heard = before
    }
    return checked
  }

  return {
    isToken(text) {
      const issuer = byIssuer.size === 0 ? undefined : issuerOf(text)
      return issuer !== undefined && byIssuer.has(issuer)
    },
    identify: (token) => identify(token),
    async stillOpens(hash, tenant) {
      const entry = known.get(hash)
      if (!entry) return false
      try {
        const { memberships } = await identify(entry.token, hash)
        return memberships.some(({ id, archived_at }) => id === tenant && archived_at === null)
      } catch (error) {
        if (error instanceof PlatformError) return false
        throw error
      }
    },
  }
}

/** What the rules give, in workspaces that exist. */
export async function resolveRights(db: Reads, rights: Rights, log: Log): Promise<Membership[]> {
  if (rights.size === 0) return []
  const rows = await identityStore(db).workspaces([...rights.keys()])
  const found = new Map<string, Membership>()
  for (const [named, role] of rights) {
    const byName = rows.filter(({ name }) => name === named)
    const row = rows.find(({ id }) => id === named) ?? (byName.length > 1 ? undefined : byName[0])
    if (row) found.set(row.id, { ...row, role: widerRole(found.get(row.id)?.role, role) })
    else if (byName.length > 1)
      log.warn('a rule names a workspace by a name that several have', { workspace: named })
  }
  return [...found.values()]
}

type Holder = Pick<Identity, 'subject' | 'kind' | 'email' | 'label'>

/** Services have no email: their tokens name a client, a repository or a service account. */
function readHolder(provider: CompanyProvider, claims: Claims): Holder & { name: string | null } {
  const subject = claimText(claims, provider.claims.subject) ?? ''
  if (subject === '' || subject.length > longestSubject)
    throw unauthorized(
      `the token lacks the claim ${provider.claims.subject}, or it is longer than ${longestSubject} characters`,
    )
  const email = claimText(claims, provider.claims.email)?.toLowerCase().slice(0, 254) ?? null
  const name = claimText(claims, provider.claims.name)?.slice(0, longestLabel) ?? null
  const who = name ?? email ?? subject.slice(0, longestLabel)
  const label = `${name && email ? `${name} <${email}>` : who} (${provider.issuer})`
  return { subject, kind: email === null ? 'service' : 'person', email, name, label }
}

/** The oldest is dropped first. Refusals have a map of their own: bad tokens in number drop no good one. */
function put(kept: Map<string, Remembered>, hash: string, entry: Remembered): void {
  kept.delete(hash)
  kept.set(hash, entry)
  if (kept.size <= mostRemembered) return
  for (const oldest of kept.keys()) {
    kept.delete(oldest)
    return
  }
}
