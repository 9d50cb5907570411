/** The library of sign-in, which is large: only what has a person to sign in imports this file, by `import()`. */
import type { Log } from '@steward/base/log.ts'
import { betterAuth } from 'better-auth/minimal'
import { isAPIError } from 'better-auth/api'
import { z } from 'zod'
import { emailOTP } from 'better-auth/plugins/email-otp'
import { createHmac } from 'node:crypto'
import type { IdentityProvider } from '../../../ground/config/identity-providers.ts'
import { asOperator } from '../../../ground/core/dial.ts'
import type { ErrorKind } from '../../../ground/core/errors.ts'
import { PlatformError } from '../../../ground/core/errors.ts'
import type { IdKind } from '../../../ground/core/ids.ts'
import { newId } from '../../../ground/core/ids.ts'
import type { Database } from '../../../ground/database/database.ts'
import { signInSeconds } from '../cookie.ts'
import { modelNames, peopleAdapter } from './adapter.ts'
import { passwordsInTurn } from './passwords.ts'
import { providersPlugin } from './providers.ts'

/** From where somebody signs in. */
export type Visitor = { address: string; userAgent: string | undefined }

export type LibraryDeps = {
  control: Database
  /** Signs what the library gives to browsers, and keys the hashes of codes. */
  key: Buffer
  publicUrl: string
  log: Log
  providers: readonly IdentityProvider[]
  /** Whether a person may come in who signs in at a provider that vouches for the address. */
  isInvited: (email: string) => Promise<boolean>
  sendCode: (to: string, code: string) => void
  sendReset: (to: string, token: string) => void
}

const basePath = '/v1/ext/auth'

/** In characters. */
export const passwordLimits = { min: 10, max: 128 }

const ids: Record<string, IdKind> = {
  user: 'person',
  session: 'sign_in',
  account: 'sign_in_account',
  verification: 'verification',
}

/** We name the address of a visitor in this header ourselves. */
const addressHeader = 'x-steward-address'

const headersOf = ({ address, userAgent }: Visitor): Headers =>
  new Headers({ [addressHeader]: address, ...(userAgent && { 'user-agent': userAgent }) })

function authOf(deps: LibraryDeps) {
  const { control, key, publicUrl, log, providers, isInvited, sendCode, sendReset } = deps
  const callback = (provider: string) => `${publicUrl}/v1/ext/oauth/${provider}/callback`
  return betterAuth({
    appName: 'Steward',
    baseURL: publicUrl,
    basePath,
    onAPIError: { errorURL: '/signin' },
    secret: key.toString('hex'),
    database: peopleAdapter(control),
    ...modelNames,
    session: { ...modelNames.session, expiresIn: signInSeconds, disableSessionRefresh: true },
    verification: { ...modelNames.verification, storeIdentifier: 'hashed' },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      password: passwordsInTurn(),
      minPasswordLength: passwordLimits.min,
      maxPasswordLength: passwordLimits.max,
      revokeSessionsOnPasswordReset: true,
      resetPasswordTokenExpiresIn: 3_600,
      sendResetPassword: async ({ user, token }) => sendReset(user.email, token),
    },
    databaseHooks: {
      user: {
        create: {
          before: async ({ email, emailVerified }) => emailVerified && (await isInvited(email)),
        },
      },
    },
    plugins: [
      providersPlugin(providers, callback),
      emailOTP({
        otpLength: 6,
        expiresIn: 300,
        allowedAttempts: 3,
        disableSignUp: true,
        // A plain hash of six digits tells the digits to whoever reads the database.
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

function atProviders(auth: Auth, publicUrl: string) {
  /** As the provider's browser would ask the library itself. */
  const handle = (path: string, init: RequestInit = {}) =>
    asOperator(() => auth.handler(new Request(`${publicUrl}${basePath}${path}`, init)))

  return {
    /** Where the browser goes to sign in at the provider, and the cookie that binds the answer to this browser. */
    async startAt(provider: string, returnTo: string): Promise<{ url: string; cookies: string[] }> {
      const answer = await handle('/sign-in/social', {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: publicUrl },
        body: JSON.stringify({
          provider,
          callbackURL: returnTo,
          errorCallbackURL: '/signin',
          disableRedirect: true,
        }),
      })
      const { url } = Started.parse(await answer.json())
      return { url, cookies: answer.headers.getSetCookie() }
    },

    /** The token of the person that the provider has sent back, or where the browser reads why there is none. */
    async finishAt(
      provider: string,
      { search, cookies, visitor }: { search: string; cookies: string; visitor: Visitor },
    ): Promise<{ token: string | undefined; location: string }> {
      const headers = headersOf(visitor)
      headers.set('cookie', cookies)
      const answer = await handle(`/callback/${provider}?${search}`, { headers })
      return {
        token: tokenIn(answer.headers.getSetCookie()),
        location: answer.headers.get('location') ?? '/signin',
      }
    },
  }
}

function byOwnMeans(auth: Auth) {
  return {
    hashPassword: async (password: string): Promise<string> =>
      (await auth.$context).password.hash(password),

    /** A new token of the person with this address and password. */
    byPassword: (given: { email: string; password: string }, visitor: Visitor) =>
      told(async () => {
        const { token } = await auth.api.signInEmail({ body: given, headers: headersOf(visitor) })
        return token
      }),

    /** Answers alike whether anybody has the address or not. */
    requestCode: (email: string) =>
      told(() => auth.api.sendVerificationOTP({ body: { email, type: 'sign-in' } })),

    /** A new token of the person to whom the code was sent. */
    byCode: ({ email, code }: { email: string; code: string }, visitor: Visitor) =>
      told(async () => {
        const body = { email, otp: code }
        const { token } = await auth.api.signInEmailOTP({ body, headers: headersOf(visitor) })
        return token
      }),

    /** Answers alike whether anybody has the address or not. */
    requestReset: (email: string) => told(() => auth.api.requestPasswordReset({ body: { email } })),

    /** Also ends all sign-ins of the person. */
    reset: (token: string, newPassword: string) =>
      told(() => auth.api.resetPassword({ body: { token, newPassword } })),

    /** Whether this is the password of the person, who has one. */
    async isPassword(person: string, password: string): Promise<boolean> {
      const { internalAdapter, password: passwords } = await auth.$context
      const account = await internalAdapter.findCredentialAccount(person)
      const hash = account?.password
      return hash ? passwords.verify({ hash, password }) : false
    },
  }
}

export type SignInLibrary = ReturnType<typeof openLibrary>

export function openLibrary(deps: LibraryDeps) {
  const auth = authOf(deps)
  return { ...byOwnMeans(auth), ...atProviders(auth, deps.publicUrl) }
}

const Started = z.object({ url: z.string() })

/** The library's own session cookie, which nobody is sent. */
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

/** In place of the library's own words, which do not say what to do. */
const reasons: Record<string, string> = {
  INVALID_EMAIL_OR_PASSWORD: 'the email or the password is wrong',
  INVALID_OTP: 'code: is wrong or was used: take the newest letter, or ask for a new code',
  OTP_EXPIRED: 'code: is too old: ask for a new one',
  TOO_MANY_ATTEMPTS: 'code: was tried too often: ask for a new one',
  INVALID_TOKEN: 'token: is wrong, used or too old: ask for a new link',
  TOKEN_EXPIRED: 'token: is too old: ask for a new link',
}

/** What the library refuses, as a refusal of ours. */
async function told<T>(ask: () => Promise<T>): Promise<T> {
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
