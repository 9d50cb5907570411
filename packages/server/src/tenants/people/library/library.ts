/** The library of sign-in, which is large: only what has a person to sign in imports this file, by `import()`. */
import type { Log } from '@steward/base/log.ts'
import { betterAuth } from 'better-auth/minimal'
import { isAPIError } from 'better-auth/api'
import { emailOTP } from 'better-auth/plugins/email-otp'
import { createHmac } from 'node:crypto'
import type { ErrorKind } from '../../../ground/core/errors.ts'
import { PlatformError } from '../../../ground/core/errors.ts'
import type { IdKind } from '../../../ground/core/ids.ts'
import { newId } from '../../../ground/core/ids.ts'
import type { Database } from '../../../ground/database/database.ts'
import { signInSeconds } from '../cookie.ts'
import { modelNames, peopleAdapter } from './adapter.ts'

/** From where somebody signs in. */
export type Visitor = { address: string; userAgent: string | undefined }

export type LibraryDeps = {
  control: Database
  /** Signs what the library gives to browsers, and keys the hashes of codes. */
  key: Buffer
  publicUrl: string
  log: Log
  sendCode: (to: string, code: string) => void
  sendReset: (to: string, token: string) => void
}

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

export type SignInLibrary = ReturnType<typeof openLibrary>

export function openLibrary({ control, key, publicUrl, log, sendCode, sendReset }: LibraryDeps) {
  const auth = betterAuth({
    appName: 'Steward',
    baseURL: publicUrl,
    basePath: '/v1/ext/auth',
    secret: key.toString('hex'),
    database: peopleAdapter(control),
    ...modelNames,
    session: { ...modelNames.session, expiresIn: signInSeconds, disableSessionRefresh: true },
    verification: { ...modelNames.verification, storeIdentifier: 'hashed' },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordLimits.min,
      maxPasswordLength: passwordLimits.max,
      revokeSessionsOnPasswordReset: true,
      resetPasswordTokenExpiresIn: 3_600,
      sendResetPassword: async ({ user, token }) => sendReset(user.email, token),
    },
    plugins: [
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

const kinds: Record<number, ErrorKind> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  422: 'invalid_request',
  429: 'rate_limited',
}

/** What the library refuses, as a refusal of ours. */
async function told<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    const kind = isAPIError(error) ? kinds[error.statusCode] : undefined
    if (!isAPIError(error) || kind === undefined) throw error
    const code = error.body?.code?.toLowerCase()
    throw new PlatformError(
      kind,
      error.body?.message ?? error.message,
      code ? { error_code: code } : undefined,
    )
  }
}
