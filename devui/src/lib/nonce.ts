/** The nonce of this page's policy, for libraries that make style elements. */
export function cspNonce(): string | undefined {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')
  const nonce = meta?.content
  return nonce === undefined || nonce === "" || nonce === "__CSP_NONCE__" ? undefined : nonce
}
