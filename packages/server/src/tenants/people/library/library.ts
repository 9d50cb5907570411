/** The library of sign-in. It is large, so it is imported with `import()` when the first person signs in. */
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import { betterAuth } from 'better-auth/minimal'
import { isAPIError } from 'better-auth/api'
import { z } from 'zod'
import { emailOTP } from 'better-auth/plugins/email-otp'
import { createHmac } from 'node:crypto'
import type { IdentityProvider } from '../../../ground/config/identity-providers.ts'
import { asOperator } from '../../../ground/core/security/dial.ts'
import type { ErrorKind } from '../../../ground/core/errors.ts'
import { invalid, PlatformError } from '../../../ground/core/errors.ts'
import type { IdKind } from '../../../ground/core/text/ids.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import type { Database } from '../../../ground/database/database.ts'
import { signInSeconds } from '../cookie.ts'
import { modelNames, peopleAdapter } from './adapter.ts'
import { passwordsInTurn } from './passwords.ts'
import { checkNewPassword } from './usual-passwords.ts'
import type { AdmittedProof, GroupSignIns } from '../identities/at-provider.ts'
import { heldProof, holdProof } from './held-proof.ts'
import { providersPlugin } from './providers.ts'

/** Origin of a sign-in. */
export type Visitor = { address: string; userAgent: string | undefined }

export type SignInLibraryDeps = {
  control: Database
  clock: Clock
  /** Signs the library's cookies, and keys the hashes of codes. */
  key: Buffer
  /** The origin of this service, and the path below which browsers reach it. */
  publicUrl: string
  path: string
  log: Log
  providers: readonly IdentityProvider[]
  /** True when a new person with this address may join; a provider vouches for the address. */
  isInvited: (email: string) => Promise<boolean>
  readProof: GroupSignIns['read']
  sendCode: (to: string, code: string) => void
  sendReset: (to: string, token: string) => void
}

const basePath = '/v1/ext/auth'

/** Lengths in characters. */
export const passwordLimits = { min: 10, max: 128 }

const ids: Record<string, IdKind> = {
  user: 'person',
  session: 'sign_in',
  account: 'sign_in_account',
  verification: 'verification',
}

/** This service sets the header to the visitor's address; callers cannot. */
const addressHeader = 'x-steward-address'

const headersOf = ({ address, userAgent }: Visitor): Headers =>
  new Headers({ [addressHeader]: address, ...(userAgent && { 'user-agent': userAgent }) })

type InTurn = ReturnType<typeof passwordsInTurn>

function authOf(deps: SignInLibraryDeps, passwords: InTurn) {
  const { control, key, publicUrl, path, log, providers, isInvited, sendCode, sendReset } = deps
  const callback = (provider: string) => `${publicUrl}${path}/v1/ext/oauth/${provider}/callback`
  return betterAuth({
    appName: 'Steward',
    baseURL: publicUrl,
    basePath,
    onAPIError: { errorURL: `${path}/signin` },
    secret: key.toString('hex'),
    database: peopleAdapter(control),
    ...modelNames,
    session: { ...modelNames.session, expiresIn: signInSeconds, disableSessionRefresh: true },
    verification: { ...modelNames.verification, storeIdentifier: 'hashed' },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      password: passwords,
      minPasswordLength: passwordLimits.min,
      maxPasswordLength: passwordLimits.max,
      revokeSessionsOnPasswordReset: true,
      resetPasswordTokenExpiresIn: 3_600,
      sendResetPassword: async ({ user, token }) => sendReset(user.email, token),
    },
    databaseHooks: {
      user: {
        create: {
          before: async ({ email, emailVerified }) =>
            heldProof()?.isAdmitted === true || (emailVerified && (await isInvited(email))),
        },
      },
    },
    plugins: [
      providersPlugin(providers, callback, deps),
      emailOTP({
        otpLength: 6,
        expiresIn: 300,
        allowedAttempts: 3,
        disableSignUp: true,
        // Attack: an unkeyed hash of six digits reveals the digits to a reader of the database.
        storeOTP: { hash: async (code) => createHmac('sha256', key).update(code).digest('hex') },
        sendVerificationOTP: async ({ email, otp }) => sendCode(email, otp),
      }),
    ],
    advanced: {
      cookiePrefix: 'steward',
      ipAddress: { ipAddressHeaders: [addressHeader] },
      database: { generateId: ({ model }) => newId(ids[model] ?? 'verification') },
    },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: {
      level: 'error',
      log: (_level, message) => log.warn('the library of sign-in reports', { message }),
    },
  })
}

type Auth = ReturnType<typeof authOf>

function atProviders(auth: Auth, { publicUrl, path: prefix }: SignInLibraryDeps) {
  /** Sends the library a request of its own HTTP routes. */
  const handle = (path: string, init: RequestInit = {}) =>
    asOperator(() => auth.handler(new Request(`${publicUrl}${basePath}${path}`, init)))

  return {
    /** The provider's address for the browser, and the cookie that binds the answer to this browser. */
    async startAt(provider: string, returnTo: string): Promise<{ url: string; cookies: string[] }> {
      const answer = await handle('/sign-in/social', {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: publicUrl },
        body: JSON.stringify({
          provider,
          callbackURL: returnTo,
          errorCallbackURL: `${prefix}/signin`,
          disableRedirect: true,
        }),
      })
      // The library refuses more paths than a URL does, such as one with an encoded slash or a fragment.
      if (answer.status === 400 || answer.status === 403)
        throw invalid('return_to: must be a path of this service, such as /docs')
      const { url } = Started.parse(await answer.json())
      const cookies = answer.headers.getSetCookie()
      return {
        url,
        cookies: cookies.map((cookie) => cookie.replace(stateCookie, `$1.${provider}=`)),
      }
    },

    /** The token of the new sign-in, or undefined with the `location` of the page that shows the reason. */
    async finishAt(
      provider: string,
      { search, cookies, visitor }: { search: string; cookies: string; visitor: Visitor },
    ): Promise<{ token: string | undefined; location: string; proof: AdmittedProof | undefined }> {
      const headers = headersOf(visitor)
      headers.set('cookie', ofProvider(cookies, provider))
      const { answer, proof } = await holdProof(() =>
        handle(`/callback/${provider}?${search}`, { headers }),
      )
      return {
        proof,
        token: tokenIn(answer.headers.getSetCookie()),
        location: answer.headers.get('location') ?? `${prefix}/signin?error=provider_failed`,
      }
    },
  }
}

function byOwnMeans(auth: Auth, passwords: InTurn) {
  return {
    /** The hash of a new password, which is not one that anybody would guess. */
    hashPassword(password: string, { address }: Visitor): Promise<string> {
      checkNewPassword(password)
      return passwords.as({ address, account: undefined }, () => passwords.hash(password))
    },

    /** A new token of the person with this address and password. */
    byPassword: (given: { email: string; password: string }, visitor: Visitor) =>
      translateRefusal(async () => {
        const { address } = visitor
        const headers = headersOf(visitor)
        const attempt = { address, account: given.email.toLowerCase() }
        try {
          const { token } = await passwords.as(attempt, () =>
            auth.api.signInEmail({ body: given, headers }),
          )
          return token
        } catch (error) {
          if (isAPIError(error)) passwords.noteFailure(attempt)
          throw error
        }
      }),

    /** Answers alike whether anybody has the address or not. */
    requestCode: (email: string) =>
      translateRefusal(() => auth.api.sendVerificationOTP({ body: { email, type: 'sign-in' } })),

    /** A new token of the person to whom the code was sent. */
    byCode: ({ email, code }: { email: string; code: string }, visitor: Visitor) =>
      translateRefusal(async () => {
        const body = { email, otp: code }
        const { token } = await auth.api.signInEmailOTP({ body, headers: headersOf(visitor) })
        return token
      }),

    /** Answers alike whether anybody has the address or not. */
    requestReset: (email: string) =>
      translateRefusal(() => auth.api.requestPasswordReset({ body: { email } })),

    /** True while a link with this token sets a password. */
    async mayReset(token: string): Promise<boolean> {
      const { internalAdapter } = await auth.$context
      const found = await internalAdapter.findVerificationValue(`reset-password:${token}`)
      return found ? found.expiresAt > new Date() : false
    },

    /** Sets a new password and ends all sign-ins of the person. */
    reset(token: string, newPassword: string, { address }: Visitor) {
      checkNewPassword(newPassword)
      return translateRefusal(() =>
        passwords.as({ address, account: undefined }, () =>
          auth.api.resetPassword({ body: { token, newPassword } }),
        ),
      )
    },

    /** True when this is the person's password; false also for a person without one. */
    async isPassword(person: string, password: string, { address }: Visitor): Promise<boolean> {
      const { internalAdapter } = await auth.$context
      const account = await internalAdapter.findCredentialAccount(person)
      const hash = account?.password
      if (!hash) return false
      const attempt = { address, account: person }
      const isRight = await passwords.as(attempt, () => passwords.verify({ hash, password }))
      if (!isRight) passwords.noteFailure(attempt)
      return isRight
    },
  }
}

export type SignInLibrary = ReturnType<typeof openLibrary>

export function openLibrary(deps: SignInLibraryDeps) {
  const passwords = passwordsInTurn(deps.clock)
  const auth = authOf(deps, passwords)
  return { ...byOwnMeans(auth, passwords), ...atProviders(auth, deps) }
}

/**
 * Attack: the state of one provider, taken to the callback of another, would give the code and the verifier of the one to
 * the other. So the cookie that holds the state of this browser names its provider.
 */
const stateCookie = /^((?:__Secure-)?steward\.state)=/

function ofProvider(cookies: string, provider: string): string {
  const kept = cookies
    .split(/;\s*/)
    .filter((cookie) => !stateCookie.test(cookie))
    .map((cookie) => cookie.replace(`steward.state.${provider}=`, 'steward.state='))
  return kept.join('; ')
}

const Started = z.object({ url: z.string() })

/** The token in the library's own session cookie, which no browser gets. */
function tokenIn(cookies: readonly string[]): string | undefined {
  const cookie = cookies.find((each) => /^(__Secure-)?steward\.session_token=/.test(each))
  const value = cookie?.split(';')[0]?.split('=').slice(1).join('=')
  return value ? decodeURIComponent(value).split('.')[0] : undefined
}

const kinds: Record<number, ErrorKind> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  422: 'invalid_request',
  429: 'rate_limited',
}

/** Messages in place of the library's, which do not tell the person what to do. */
const reasons: Record<string, string> = {
  INVALID_EMAIL_OR_PASSWORD: 'the email or the password is wrong',
  INVALID_OTP: 'code: is wrong or was used: take the newest email, or ask for a new code',
  OTP_EXPIRED: 'code: is too old: ask for a new one',
  TOO_MANY_ATTEMPTS: 'code: was tried too often: ask for a new one',
  INVALID_TOKEN: 'token: is wrong, used or too old: ask for a new link',
  TOKEN_EXPIRED: 'token: is too old: ask for a new link',
}

/** Turns refusals of the library into a `PlatformError`. */
async function translateRefusal<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    const kind = isAPIError(error) ? kinds[error.statusCode] : undefined
    if (!isAPIError(error) || kind === undefined) throw error
    const { code, message = error.message } = error.body ?? {}
    throw new PlatformError(
      kind,
      reasons[code ?? ''] ?? message,
      code ? { error_code: code.toLowerCase() } : undefined,
    )
  }
}
