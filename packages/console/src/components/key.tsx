type KeyProps = {
  of: string
  isOnFill?: boolean
  /** It is shown on a phone too. */
  isForAll?: boolean
}

/** A key to press, as it is written on it. */
export const Key = ({ of, isOnFill = false, isForAll = false }: KeyProps) => (
  <kbd
    aria-hidden="true"
    className={`-mr-1 rounded-sm border px-1 font-sans text-tiny ${isOnFill ? 'border-transparent text-current' : 'bg-n2 text-n8'} ${isForAll ? '' : 'max-phone:hidden'}`}
  >
    {of}
  </kbd>
)
