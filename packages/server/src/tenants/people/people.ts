/** The parts of sign-in that a process builds once. The library is loaded when the first person signs in. */
import { randomBytes, randomInt } from 'node:crypto'
import { runOnce } from '@steward/base/shared-runs.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import { basePath } from '../../ground/config/base-url.ts'
import type { IdentityProvider } from '../../ground/config/identity-providers.ts'
import type { AddressClass } from '../../ground/core/fairness/rates.ts'
import { hashToken } from '../../ground/core/security/token.ts'
import { networkOf } from '../../ground/core/security/network.ts'
import type { Databases, Queries } from '../../ground/database/database.ts'
import type { Header } from '../../ground/http/caller.ts'
import type { Ground } from '../../ground/ground.ts'
import type { FindSignIn } from './authenticate.ts'
import { peopleTopic, findSignIn } from './authenticate.ts'
import type { SessionCookie } from './cookie.ts'
import { sessionCookie, signInSeconds } from './cookie.ts'
import type { FailedSignIns } from './failures.ts'
import { failedSignIns } from './failures.ts'
import type { SignInLibrary, Visitor } from './library/library.ts'
import type { GroupSignIns } from './identities/at-provider.ts'
import type { Mail } from './mail.ts'
import type { OwnOrigin } from './origin.ts'
import { ownOrigin } from './origin.ts'
import { peopleStore } from './store.ts'

export type PeopleSettings = {
  /** Keys of cookies: the first signs new cookies, the others only read old ones. */
  keys: readonly [Buffer, ...Buffer[]]
  publicUrl: string | undefined
  /** Base URL of links in letters. Attack: the host that a request names may be anybody's. */
  base: string
  providers: readonly IdentityProvider[]
  isByProvidersAlone: boolean
}

/** Counts an attempt by an address of a visitor or of a letter; rejects beyond the limit. */
type CountAttempt = (of: AddressClass, key: string) => Promise<void>

/** What is counted by person, whether anybody has the address or not. Each rejects beyond its limit. */
export type PersonLimits = {
  /** Counts an attempt at the password of an account. Attack: guesses from many addresses. */
  admitPassword(account: string, from: AttemptOrigin): Promise<void>
  /** Counts a letter to an address. */
  admitLetter(email: string, from: AttemptOrigin): Promise<void>
}

export type AttemptOrigin = {
  address: string
  /** Asked where the limit is reached: a person is not locked out of networks from which the person is signed in. */
  isKnownNetwork: () => Promise<boolean>
}

/** Open invitations, as a port: their room is on a higher floor. */
export type OpenInvitations = {
  isInvited: (email: string) => Promise<boolean>
  /** Makes the person a member of each workspace that invited the address. */
  join: (person: { id: string; email: string }) => Promise<void>
}

type PeopleDeps = Ground & {
  mail: Mail
  /** Left out: attempts are not limited. */
  admit: CountAttempt | undefined
  /** Left out: the same. */
  personLimits: PersonLimits | undefined
  invited: OpenInvitations
  groups: GroupSignIns
}

export type People = {
  databases: Databases
  clock: Clock
  cookie: SessionCookie
  origin: OwnOrigin
  /** The base URL of the settings. */
  base: string
  /** A path of this service as browsers have it: below that of `PUBLIC_URL`. */
  at: (path: string) => string
  isSecure: boolean
  key: Buffer
  mail: Mail
  providers: readonly IdentityProvider[]
  /** People sign in by providers alone. */
  isByProvidersAlone: boolean
  invited: OpenInvitations
  groups: GroupSignIns
  find: FindSignIn
  library: () => Promise<SignInLibrary>
  admit: CountAttempt
  /** Counts an attempt at the password of the account, an email or an id of a person. */
  admitPassword: (account: string, visitor: Visitor) => Promise<void>
  admitLetter: (email: string, visitor: Visitor) => Promise<void>
  /**
   * Sends a letter after the answer, after a random delay: the time of an answer does not reveal whether the address
   * is known.
   */
  later: (what: string, send: () => Promise<unknown>) => void
  failures: FailedSignIns
  /** Notifies processes of what the library has written: it may have ended sign-ins or added members. */
  announce: () => void
}

export function createPeople(
  settings: PeopleSettings,
  { mail, invited, groups, admit = async () => {}, personLimits, ...ground }: PeopleDeps,
): People {
  const { databases, clock, bus, log } = ground
  const { keys, publicUrl, base, providers, isByProvidersAlone } = settings
  const isSecure = publicUrl?.startsWith('https:') ?? false
  const cookie = sessionCookie(keys, { isSecure })
  const origin = ownOrigin(publicUrl)
  const prefix = basePath(publicUrl)

  async function load(): Promise<SignInLibrary> {
    const { openLibrary } = await import('./library/library.ts')
    return openLibrary({
      control: databases.control,
      clock,
      key: keys[0],
      publicUrl: new URL(base).origin,
      path: prefix,
      log,
      providers,
      isInvited: invited.isInvited,
      readProof: groups.read,
      sendCode: (to, code) =>
        mail.post({
          kind: 'sign-in code',
          to,
          subject: `${code} is your code for Steward`,
          text: `Your code is ${code}. It is valid for 5 minutes.\n\nIf you did not ask for it, do nothing: nobody can sign in without it.\n`,
        }),
      sendReset: (to, token) =>
        mail.post({
          kind: 'new password',
          to,
          subject: 'A new password for Steward',
          text: `Set a new password here, within an hour:\n\n${base}/signin/reset?token=${token}\n\nIf you did not ask for it, do nothing: your password stays.\n`,
        }),
    })
  }

  const fromOf = (account: string, { address }: Visitor) => ({
    address,
    async isKnownNetwork() {
      const known = await peopleStore(databases.control.read).addressesOf(account)
      return known.some((each) => networkOf(each) === networkOf(address))
    },
  })

  return {
    databases,
    clock,
    cookie,
    origin,
    base,
    at: (path) => prefix + path,
    isSecure,
    key: keys[0],
    mail,
    providers,
    isByProvidersAlone,
    invited,
    groups,
    find: findSignIn({ ...ground, cookie, isByProvidersAlone }),
    library: runOnce(load),
    admit,
    admitPassword: async (account, visitor) =>
      personLimits?.admitPassword(account, fromOf(account, visitor)),
    admitLetter: async (email, visitor) => personLimits?.admitLetter(email, fromOf(email, visitor)),
    later(what, send) {
      const report = (error: unknown) =>
        log.error(`${what} could not be sent to a person`, { error })
      setTimeout(() => void send().catch(report), randomInt(10, 100)).unref()
    },
    failures: failedSignIns(),
    announce: () => bus.publish(peopleTopic, {}),
  }
}

export const readVisitor = ({ header, address }: { header: Header; address: string }): Visitor => ({
  address,
  userAgent: header('user-agent')?.slice(0, 500),
})

/** Signs the person in, within the unit that created or found the person. Returns the token. */
export async function beginSignIn(
  tx: Queries,
  {
    person,
    workspace,
    provider,
    visitor,
    now,
  }: {
    person: string
    workspace: string | null
    /** That of the sign-in before. */
    provider: string | null
    visitor: Visitor
    now: number
  },
): Promise<string> {
  const token = randomBytes(24).toString('base64url')
  await peopleStore(tx).signIn(
    {
      person_id: person,
      token_hash: hashToken(token),
      workspace_id: workspace,
      provider_id: provider,
      ip_address: visitor.address,
      user_agent: visitor.userAgent ?? null,
      expires_at: iso(now + signInSeconds * 1_000),
    },
    now,
  )
  return token
}
