// The tool over HTTP.
import { describe, expect, it } from '@jest/globals';
import { endOfRequest } from './tool-server.js';

describe('a request of the tool', () => {
  it('ends after its body', () => {
    const post = 'POST /back/r/1 HTTP/1.1\r\nContent-Length: 4\r\n\r\n{..}';
    expect(endOfRequest(post)).toBe(post.length);
    expect(endOfRequest(`${post}GET /`)).toBe(post.length);
    const get = 'GET /look/r/1 HTTP/1.1\r\nhost: x\r\n\r\n';
    expect(endOfRequest(get)).toBe(get.length);
  });

  it('has not ended while some of it is missing', () => {
    expect(endOfRequest('POST /back/r/1 HTTP/1.1\r\ncontent-length: 4\r\n\r\n{.')).toBe(0);
    expect(endOfRequest('GET /look/r/1 HTTP/1.1\r\n')).toBe(0);
  });
});
