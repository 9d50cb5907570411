/** Sends a file to the service, and says how much of it is there. */
import { serviceUrl } from '../place.ts'
import { callerHeaders } from './client.ts'
import { ApiError, refusalOf } from './refusal.ts'

export type UploadedFile = { id: string; filename: string; mime_type: string; size_bytes: number }

type UploadOptions = {
  /** The session in whose sandbox the file appears. */
  session?: string
  /** Shares of the bytes, 0 to 1. */
  onProgress?: (share: number) => void
  signal?: AbortSignal
}

const isUploaded = (value: unknown): value is UploadedFile =>
  typeof value === 'object' && value !== null && 'id' in value && 'filename' in value

/** Rejects with what the service says, or with an error of no answer. */
export function uploadFile(file: File, options: UploadOptions = {}): Promise<UploadedFile> {
  const { session, onProgress, signal } = options
  const form = new FormData()
  if (session !== undefined) form.set('session_id', session)
  form.set('file', file, file.name)
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const lost = (message: string) =>
      reject(new ApiError({ message, status: 0, type: 'unreachable', requestId: undefined }))
    request.open('POST', `${serviceUrl}/v1/files`)
    for (const [name, value] of Object.entries(callerHeaders()))
      request.setRequestHeader(name, value)
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onProgress?.(total === 0 ? 1 : loaded / total),
    )
    request.addEventListener('error', () => lost('the server does not answer'))
    request.addEventListener('abort', () => lost('the upload was stopped'))
    request.addEventListener('load', () => {
      const { status, responseText } = request
      if (status >= 300) {
        void refusalOf(new Response(responseText, { status })).then(reject)
        return
      }
      const answer: unknown = JSON.parse(responseText)
      if (isUploaded(answer)) resolve(answer)
      else lost('the server answered with something else than a file')
    })
    signal?.addEventListener('abort', () => request.abort())
    request.send(form)
  })
}
