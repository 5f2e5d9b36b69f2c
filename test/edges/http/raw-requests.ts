import { expect } from "vitest";

export interface Told {
  readonly status: number;
  readonly code: string;
}

export async function told(response: Response): Promise<Told> {
  const { error } = (await response.json()) as { error?: { readonly code: string } };
  if (error !== undefined)
    expect(error).toEqual({
      code: expect.any(String),
      message: expect.stringMatching(/./),
      safe: expect.stringMatching(/./),
      next: expect.stringMatching(/./),
      details: expect.any(Object),
    });
  return { status: response.status, code: error?.code ?? "" };
}

export const by = (token: string, more: Record<string, string> = {}): RequestInit => ({
  headers: { authorization: `Bearer ${token}`, ...more },
});

export const posted = (token: string, body: unknown, more: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...more },
  body: typeof body === "string" ? body : JSON.stringify(body),
});
