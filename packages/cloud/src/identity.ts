/** Who we are at a cloud: the port that callers see. */

/** The cloud gave no credential. `message` holds the cloud's own words, without secrets. */
export type CloudFailure = {
  ok: false
  message: string
  /** True when the same request may succeed later. */
  retryable: boolean
}

export type CloudOutcome<Credential> = { ok: true; credential: Credential } | CloudFailure

/** `expiresMs`: milliseconds since the epoch; null for a credential that does not end. */
type Expiring = { expiresMs: number | null }

export type AwsKeys = Expiring & {
  accessKeyId: string
  /** SECRET: never logged. */
  secretAccessKey: string
  /** SECRET: never logged. */
  sessionToken?: string
}

/** `token` is for a header `authorization: Bearer`. */
export type BearerToken = Expiring & {
  /** SECRET: never logged. */
  token: string
}

export type CloudIdentity<Credential> = {
  /** Never rejects because of the cloud or the configuration: such a failure is a value. Callers share one request. */
  current(): Promise<CloudOutcome<Credential>>
  /** Makes the next call ask the cloud again, for instance after the cloud refused the credential. */
  forget(): void
}

export type AwsIdentity = CloudIdentity<AwsKeys>
export type BearerIdentity = CloudIdentity<BearerToken>

export type CloudDeps = {
  /** Every request to a cloud goes by this function, except those to Amazon's addresses within the machine. */
  fetch: typeof globalThis.fetch
  /** Milliseconds since the epoch. Default: the time of the machine. */
  now?: () => number
}
