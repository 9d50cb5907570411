import { useEffect, useRef } from 'react'

/** A picture of bytes that were fetched. Never SVG, which is a document: the caller shows its text. */
export function ImageView({ bytes, name }: { bytes: Blob; name: string }) {
  const image = useRef<HTMLImageElement>(null)
  useEffect(() => {
    const url = URL.createObjectURL(bytes)
    if (image.current) image.current.src = url
    return () => URL.revokeObjectURL(url)
  }, [bytes])
  return (
    <figure className="grid place-items-center rounded-panel border bg-n2 p-4">
      <img ref={image} alt={name} className="max-h-[70vh] max-w-full rounded-sm object-contain" />
    </figure>
  )
}

/** A picture of a log, as the base64 in which it stands there. */
export function LoggedImage({
  format,
  data,
  name,
}: {
  format: string
  data: string
  name: string
}) {
  const image = useRef<HTMLImageElement>(null)
  useEffect(() => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))
    const url = URL.createObjectURL(new Blob([bytes], { type: format }))
    if (image.current) image.current.src = url
    return () => URL.revokeObjectURL(url)
  }, [format, data])
  return <img ref={image} alt={name} className="max-h-[50vh] max-w-full object-contain p-3" />
}
