/** Sends a file to the service and tells how far it has come: `fetch` does not say that of what it sends. */
import { leaveForSignIn, serviceUrl } from '../place.ts'
import { callerHeaders } from './client.ts'
import { ApiError, refusalOf } from './refusal.ts'
import type { FileMetadata } from './types.ts'

type UploadOptions = {
  /** The session in whose sandbox the file appears. */
  session?: string
  signal?: AbortSignal
  /** From 0 to 1. */
  onProgress: (fraction: number) => void
}

const unanswered = () =>
  new ApiError({
    message: 'the server does not answer',
    status: 0,
    type: 'unreachable',
    requestId: undefined,
  })

async function answerOf(request: XMLHttpRequest): Promise<FileMetadata> {
  const { status, responseText } = request
  if (status === 401) return leaveForSignIn()
  if (status < 200 || status > 299)
    throw await refusalOf(new Response(responseText, { status: status === 0 ? 502 : status }))
  return JSON.parse(responseText)
}

export function uploadFile(
  file: File,
  { session, signal, onProgress }: UploadOptions,
): Promise<FileMetadata> {
  const request = new XMLHttpRequest()
  const form = new FormData()
  if (session !== undefined) form.append('session_id', session)
  form.append('file', file, file.name)
  return new Promise((resolve, reject) => {
    request.open('POST', `${serviceUrl}/v1/files`)
    for (const [name, value] of Object.entries(callerHeaders()))
      request.setRequestHeader(name, value)
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onProgress(total > 0 ? loaded / total : 0),
    )
    request.addEventListener('load', () => void answerOf(request).then(resolve, reject))
    request.addEventListener('error', () => reject(unanswered()))
    request.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))
    signal?.addEventListener('abort', () => request.abort())
    request.send(form)
  })
}
