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
