/** Chooses files of the person's own machine: one, or a folder with all that lies in it. */
import { useId } from 'react'
import { Labelled } from './field.tsx'

type FilesFieldProps = {
  label: string
  hint?: string | undefined
  problem?: string | undefined
  /** Whether a folder is chosen in place of one file. */
  isFolder?: boolean
  /** Endings of names, such as `.zip`. */
  accept?: string
  onChoose: (files: readonly File[]) => void
}

/** No property of React has it. */
const asFolder = (input: HTMLInputElement | null): void =>
  input?.setAttribute('webkitdirectory', '')

export function FilesField(props: FilesFieldProps) {
  const { label, hint, problem, isFolder = false, accept, onChoose } = props
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint} problem={problem}>
      <input
        id={id}
        type="file"
        ref={isFolder ? asFolder : undefined}
        accept={accept}
        aria-invalid={problem !== undefined}
        aria-describedby={(problem ?? hint) === undefined ? undefined : `${id}-about`}
        onChange={({ target }) => onChoose([...(target.files ?? [])])}
        className="w-full min-w-0 rounded-base text-n9 file:mr-3 file:h-7 file:rounded-base file:border file:border-solid file:border-n6 file:bg-n1 file:px-2.5 file:font-medium file:text-n10 hover:file:bg-n3"
      />
    </Labelled>
  )
}
