/** The JSON wire of AWS Secrets Manager and AWS KMS, signed by Signature Version 4. */
import type { AwsIdentity, AwsKeys } from '@steward/cloud/identity.ts'
import { signAws } from '@steward/cloud/sign-aws.ts'
import { z } from 'zod'
import type { CloudRequests } from '../cloud-wire.ts'
import { cloudRequests } from '../cloud-wire.ts'
import type { ManagerFailure, ManagerWire } from '../wire.ts'
import { clippedWords, failure, failureOfStatus, parsedJson } from '../wire.ts'

export type AwsDeps = { wire: ManagerWire; identity: AwsIdentity }

const Refusal = z.object({
  __type: z.string().optional(),
  message: z.string().optional(),
  Message: z.string().optional(),
})

/** Names of errors, without the namespace that some services put before them. */
const kinds: Readonly<Record<string, ManagerFailure['why']>> = {
  ResourceNotFoundException: 'missing',
  NotFoundException: 'missing',
  // A secret that waits for its deletion.
  InvalidRequestException: 'missing',
  AccessDeniedException: 'denied',
  DecryptionFailure: 'denied',
  KMSAccessDeniedException: 'denied',
  DisabledException: 'denied',
  KMSInvalidStateException: 'denied',
  UnrecognizedClientException: 'sign_in',
  InvalidClientTokenId: 'sign_in',
  InvalidSignatureException: 'sign_in',
  SignatureDoesNotMatch: 'sign_in',
  IncompleteSignature: 'sign_in',
  MissingAuthenticationTokenException: 'sign_in',
  ExpiredTokenException: 'sign_in',
  ThrottlingException: 'away',
  DependencyTimeoutException: 'away',
  InternalServiceError: 'away',
  KMSInternalException: 'away',
}

function awsFailure(status: number, text: string): ManagerFailure {
  const parsed = Refusal.safeParse(parsedJson(text))
  const { __type: type = '', message, Message } = parsed.success ? parsed.data : {}
  const name = type.split('#').at(-1) ?? ''
  const said = clippedWords([name, message ?? Message ?? ''].filter(Boolean).join(': '))
  const why = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  return why ? failure(why, said) : failureOfStatus(status, said)
}

const suffixOf = (region: string): string =>
  region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'

/** Sends operations of a service. `prefix`: what its operations are called by. */
export function awsRequests(
  {
    service,
    prefix,
    region,
    endpoint = `https://${service}.${region}.${suffixOf(region)}`,
  }: { service: string; prefix: string; region: string; endpoint?: string | undefined },
  { wire, identity }: AwsDeps,
) {
  const sign: CloudRequests<AwsKeys>['sign'] = async (request, keys) => {
    const headers = await signAws(request, keys, { region, service })
    return { ...request, headers: Object.fromEntries(headers) }
  }
  const send = cloudRequests({ wire, identity, sign, failureOf: awsFailure })
  return (operation: string, body: object, signal: AbortSignal) =>
    send(
      {
        method: 'POST',
        url: new URL(endpoint),
        headers: {
          'content-type': 'application/x-amz-json-1.1',
          'x-amz-target': `${prefix}.${operation}`,
        },
        body: JSON.stringify(body),
      },
      signal,
    )
}
