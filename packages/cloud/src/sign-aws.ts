import { AwsV4Signer } from 'aws4fetch'
import type { AwsKeys } from './identity.ts'

export type AwsRequest = {
  url: string | URL
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
}

/**
 * The headers of a request, with those of Signature Version 4. The request must be sent as it was signed: the same
 * address, method, headers and body. `service` is the name in the signature, such as `bedrock` or `kms`.
 */
export async function signAws(
  { url, method = 'POST', headers = {}, body = '' }: AwsRequest,
  keys: AwsKeys,
  { region, service }: { region: string; service: string },
): Promise<Headers> {
  const { accessKeyId, secretAccessKey, sessionToken } = keys
  const signer = new AwsV4Signer({
    url: new URL(url).href,
    method,
    headers,
    body,
    accessKeyId,
    secretAccessKey,
    region,
    service,
    ...(sessionToken !== undefined && { sessionToken }),
  })
  const signed = await signer.sign()
  return signed.headers
}
